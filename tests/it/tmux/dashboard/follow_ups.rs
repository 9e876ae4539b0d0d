//! Messages to agents of which the operator has to decide, in the dashboard.

use fleetwatch::clock::now;
use fleetwatch::follow_up::{MessageEvent, Wanted};
use fleetwatch::history::Intents;
use fleetwatch::record::{IntentId, IntentState};
use fleetwatch::time::Span;

use super::World;
use crate::support::private_tmux::wait_until;

/// A message to `birds` of which nobody knows whether it arrived.
fn unclear(world: &World, text: &str) -> IntentId {
    let path = world.directory.path().join("state/fleetwatch/history.db");
    let mut intents = Intents::open(&path, now()).unwrap();
    let (source, event) = ("crows".to_owned(), "finished".to_owned());
    let body = MessageEvent { source, event, text: text.to_owned(), ..MessageEvent::default() };
    let (to, key, keep) = ("birds".to_owned(), text.to_owned(), Span::from_secs(3600));
    let id = intents.queue(&Wanted { to, key, body, keep }, now()).unwrap();
    assert!(intents.attempt(id, text, 1, now()).unwrap());
    assert!(intents.finish(id, IntentState::Unknown, Some("its sender died"), now()).unwrap());
    id
}

#[test]
fn an_unclear_message_is_sent_again_or_dismissed_by_keys() {
    let world = World::new();
    let rule = "[[follow_up]]\non = [\"finished\"]\nfrom = \"crows\"\nto = \"birds\"\n";
    std::fs::write(world.directory.path().join("fleetwatch/config.toml"), rule).unwrap();
    world.start_parrot();
    let (again, enough) = (unclear(&world, "crows has finished: one"), unclear(&world, "crows has finished: two"));
    world.open();
    world.wait("1 ready");
    world.wait("unclear messages");
    let reported = || world.watched.screen("birds:").matches("» [fleetwatch notification").count();
    // A list, a choice and a question, each of which can be left.
    let choose_first = || {
        world.run_command("list prompts");
        world.wait("follow-ups");
        world.press("Enter");
        world.wait("send it again");
    };
    choose_first();
    world.wait(&format!("message {} to birds", again.0));
    world.press("Enter");
    world.wait(&format!("send message {} to birds again?", again.0));
    world.wait("It may have arrived: its sender died.");
    world.press("Escape");
    world.wait_without("again?");
    assert_eq!(reported(), 0, "a question alone sends nothing");
    choose_first();
    world.press("Enter");
    world.wait("again?");
    world.confirm();
    world.wait(&format!("message {} is sent again, as number", again.0));
    wait_until("the parrot to be told", || reported() == 1);
    assert!(world.watched.screen("birds:").contains("crows has finished: one"));
    choose_first();
    world.press("Down");
    world.press("Enter");
    world.wait(&format!("dismiss message {} to birds?", enough.0));
    world.confirm();
    world.wait(&format!("message {} is dismissed", enough.0));
    world.wait_without("unclear messages");
    // What is still on its way is in the list.
    world.wait("told birds");
    world.run_command("list prompts");
    world.wait("needs a decision");
    assert_eq!(reported(), 1);
    world.quit();
}
