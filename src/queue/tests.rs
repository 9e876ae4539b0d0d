use super::*;
use crate::fleet::{PaneId, ServerId};

fn key(pane: u32) -> TerminalKey {
    TerminalKey { server: ServerId::default(), pane: PaneId(pane), pid: 1 }
}

fn at(milliseconds: i64) -> Moment {
    Moment::from_millis(milliseconds)
}

fn texts(prompts: &[Queued]) -> Vec<&str> {
    prompts.iter().map(|prompt| prompt.text.as_str()).collect()
}

fn queue(prompts: &[(u32, &str)]) -> Queue {
    let mut queue = Queue::default();
    for (pane, text) in prompts {
        queue.push(key(*pane), format!("t{pane}"), (*text).to_owned());
    }
    queue
}

#[test]
fn each_prompt_is_given_once_and_those_of_a_terminal_in_order() {
    let mut queue = queue(&[(1, "a"), (1, "b"), (2, "c"), (3, "d")]);
    let ready = |of: &TerminalKey| if *of == key(3) { Readiness::NotYet } else { Readiness::Ready };
    let due = queue.due(ready, at(0));
    assert_eq!(texts(&due), ["a", "c"]);
    assert!(queue.due(ready, at(1)).is_empty(), "what is on its way is not sent again, nor overtaken");
    queue.tried(due[0].id, Tried::Done, at(2));
    assert_eq!(texts(&queue.due(ready, at(3))), ["b"]);
    queue.tried(due[1].id, Tried::Done, at(3));
    assert_eq!(texts(queue.prompts()), ["b", "d"]);
}

#[test]
fn what_was_refused_for_now_is_tried_again_later() {
    let mut queue = queue(&[(1, "a")]);
    let ready = |_: &TerminalKey| Readiness::Ready;
    let due = queue.due(ready, at(0));
    queue.tried(due[0].id, Tried::Later, at(100));
    assert!(queue.due(ready, at(1099)).is_empty());
    assert_eq!(queue.next_try(at(200)), Some(at(1100)));
    assert_eq!(texts(&queue.due(ready, at(1100))), ["a"]);
    assert_eq!(queue.next_try(at(1100)), None, "it is on its way");
}

#[test]
fn what_is_on_its_way_is_neither_taken_back_nor_dropped() {
    let mut queue = queue(&[(1, "a"), (1, "b"), (2, "c")]);
    queue.due(|of| if *of == key(1) { Readiness::Ready } else { Readiness::NotYet }, at(0));
    assert_eq!(texts(&queue.cancel(&key(1))), ["b"]);
    assert_eq!(texts(&queue.drop_hopeless(|_| Readiness::Never)), ["c"]);
    assert_eq!(texts(queue.prompts()), ["a"]);
}
