//! Messages to agents of which the operator has to decide, in the dashboard.

use fleetwatch::follow_up::{MessageEvent, Wanted};
use fleetwatch::history::{IntentId, IntentState, Intents, Owner, now};
use fleetwatch::time::Span;

use super::Desk;
use crate::support::private_tmux::wait_until;

/// A message to `birds` of which nobody knows whether it arrived.
fn unclear(desk: &Desk, text: &str) -> IntentId {
    let path = desk.directory.path().join("state/fleetwatch/history.db");
    let mut intents = Intents::open(&path, Owner::named("test"), now()).unwrap();
    let (source, event) = ("crows".to_owned(), "finished".to_owned());
    let body = MessageEvent { source, event, text: text.to_owned(), ..MessageEvent::default() };
    let (to, key, keep) = ("birds".to_owned(), text.to_owned(), Span::from_secs(3600));
    let id = intents.queue(&Wanted { to, key, body, keep }, now()).unwrap();
    assert!(intents.claim(id, now(), Span::from_secs(20)).unwrap());
    assert!(intents.attempt(id, text, 1, now()).unwrap());
    assert!(intents.finish(id, IntentState::Unknown, Some("its sender died"), now()).unwrap());
    id
}

#[test]
fn an_unclear_message_is_sent_again_or_dismissed_by_keys() {
    let desk = Desk::new();
    let rule = "[[follow_up]]\non = [\"finished\"]\nfrom = \"crows\"\nto = \"birds\"\n";
    std::fs::write(desk.directory.path().join("fleetwatch/config.toml"), rule).unwrap();
    desk.start_parrot();
    let (again, enough) = (unclear(&desk, "crows has finished: one"), unclear(&desk, "crows has finished: two"));
    desk.open();
    desk.wait("1 ready");
    desk.wait("unclear messages");
    let told = || desk.watched.screen("birds:").matches("» [fleetwatch notification").count();
    // A list, a choice and a question, each of which can be left.
    let choose_first = || {
        desk.press("F");
        desk.wait("follow-ups");
        desk.press("Enter");
        desk.wait("send it again");
    };
    choose_first();
    desk.wait(&format!("message {} to birds", again.0));
    desk.press("Enter");
    desk.wait(&format!("send message {} to birds again?", again.0));
    desk.wait("It may have arrived: its sender died.");
    desk.press("Escape");
    desk.wait_without("again?");
    assert_eq!(told(), 0, "a question alone sends nothing");
    choose_first();
    desk.press("Enter");
    desk.wait("again?");
    desk.press("y");
    desk.wait(&format!("message {} is sent again, as number", again.0));
    wait_until("the parrot to be told", || told() == 1);
    assert!(desk.watched.screen("birds:").contains("crows has finished: one"));
    choose_first();
    desk.press("Down");
    desk.press("Enter");
    desk.wait(&format!("dismiss message {} to birds?", enough.0));
    desk.press("y");
    desk.wait(&format!("message {} is dismissed", enough.0));
    desk.wait_without("unclear messages");
    // What is still on its way is in the list.
    desk.wait("told birds");
    desk.press("F");
    desk.wait("needs a decision");
    assert_eq!(told(), 1);
    desk.press("q");
    desk.expect_restored();
}
