//! The files that Enter in the composer crosses, from the key to the message of its outcome, each with what it does there.

/// Most files that it may cross; files of types alone are not counted.
const BUDGET: usize = 20;

const ENTER: &[(&str, &str)] = &[
    ("app.rs", "self.ui.handle("),
    ("ui/control.rs", "keymap.action("),
    ("ui/keymap.rs", "pub fn action("),
    ("ui/composer.rs", "cx.perform(to, Act::Prompt"),
    ("ui/overlay.rs", "Request::Perform(operation)"),
    ("app/requests.rs", "Request::Perform(operation)"),
    ("owner/act.rs", "pub async fn perform("),
    ("owner/wire.rs", "struct Order"),
    ("sender.rs", "pub async fn perform("),
    ("history.rs", "pub fn begin_input("),
    ("history/writer.rs", "self.store"),
    ("history/store.rs", "fn input_begun("),
    ("sender/turns.rs", "async fn take("),
    ("sender/steps.rs", "PressEnter"),
    ("tmux/send.rs", "pub async fn paste("),
    ("tmux/send/guard.rs", "fn coarse("),
    ("tmux/run.rs", "async fn run("),
    ("engine.rs", "fn operation_event("),
    ("ui/control/outcomes.rs", "pub fn ended("),
    ("ui/toast.rs", "pub fn outcome_text("),
];

#[test]
fn enter_crosses_no_more_files_than_it_did() {
    assert_eq!(ENTER.len(), BUDGET, "write the number down here, and in docs/architecture.md");
    let sources = super::sources("src");
    for (name, does) in ENTER {
        let does_so = sources.iter().any(|source| source.name == *name && source.code.contains(does));
        assert!(does_so, "{name} has no `{does}` any more: where does Enter go now?");
    }
}
