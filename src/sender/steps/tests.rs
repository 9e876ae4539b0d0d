use super::*;

fn seen(screen: u64, change: impl FnOnce(&mut Read)) -> Seen {
    let mut read = Read {
        supported: true,
        phase: Phase::Ready,
        working: false,
        modal: false,
        editing: Tri::No,
        posture: Tri::Yes,
        pending: Tri::No,
        prompt: (None, 0),
        turn: Arc::from(""),
        edge: Arc::from([]),
    };
    change(&mut read);
    Seen { screen, command: "claude".into(), dead: false, dialog: false, read: Some(read) }
}

fn ready() -> Seen {
    seen(1, |_| {})
}

fn pasted() -> Seen {
    seen(2, |read| read.editing = Tri::Yes)
}

fn working() -> Seen {
    seen(3, |read| (read.phase, read.working, read.posture) = (Phase::Active, true, Tri::No))
}

fn dialog() -> Seen {
    Seen { dialog: true, ..seen(4, |read| read.modal = true) }
}

/// A terminal as a test plays it: it shows something for every look, and time passes between the looks.
struct Played {
    steps: Steps,
    now: u64,
    done: Vec<&'static str>,
}

impl Played {
    fn new(insistence: Insistence) -> Self {
        Self { steps: Steps::new(insistence, Limits::default()), now: 0, done: vec![] }
    }

    /// Runs to the end. `shows` is asked at each look with the number of Enters so far, `None` before the paste.
    fn run(&mut self, mut shows: impl FnMut(Option<usize>, u64) -> Seen) -> SendOutcome {
        let mut step = Step::Look { after: Span::ZERO };
        for _ in 0..1000 {
            step = match step {
                Step::End(outcome) => return outcome,
                Step::Look { after } => {
                    self.now += after.as_millis() + 5;
                    let enters = self.done.iter().filter(|done| **done == "enter").count();
                    let pasted = self.done.contains(&"paste").then_some(enters);
                    self.steps.saw(shows(pasted, self.now), Span::from_millis(self.now))
                }
                Step::Paste => self.deliver("paste"),
                Step::PressEnter => self.deliver("enter"),
            };
        }
        panic!("it never ends");
    }

    fn deliver(&mut self, what: &'static str) -> Step {
        self.done.push(what);
        self.now += 5;
        self.steps.delivered(Span::from_millis(self.now))
    }
}

fn polite(shows: impl FnMut(Option<usize>, u64) -> Seen) -> (SendOutcome, Vec<&'static str>) {
    let mut played = Played::new(Insistence::Polite);
    (played.run(shows), played.done)
}

fn forced(shows: impl FnMut(Option<usize>, u64) -> Seen) -> (SendOutcome, Vec<&'static str>) {
    let mut played = Played::new(Insistence::Force);
    (played.run(shows), played.done)
}

#[test]
fn a_prompt_that_is_taken_is_pasted_and_entered_once() {
    let told = polite(|enters, _| match enters {
        None => ready(),
        Some(0) => pasted(),
        Some(_) => working(),
    });
    assert_eq!(told, (SendOutcome::Accepted, vec!["paste", "enter"]));
}

#[test]
fn enter_comes_apart_from_the_text() {
    let mut played = Played::new(Insistence::Polite);
    let mut times = Vec::new();
    played.run(|enters, now| {
        times.push((enters, now));
        match enters {
            None => ready(),
            Some(0) => pasted(),
            Some(_) => working(),
        }
    });
    let first = |wanted| times.iter().find(|(enters, _)| *enters == wanted).unwrap().1;
    assert!(first(Some(1)) - first(Some(0)) >= Limits::default().enter_apart.as_millis() / 2);
}

#[test]
fn an_agent_that_took_the_paste_only_gets_one_more_enter() {
    let told = polite(|enters, _| match enters {
        None => ready(),
        Some(0 | 1) => pasted(),
        Some(_) => working(),
    });
    assert_eq!(told, (SendOutcome::Accepted, vec!["paste", "enter", "enter"]));
}

#[test]
fn a_text_that_stays_in_the_prompt_is_not_taken() {
    let (outcome, done) = polite(|enters, _| if enters.is_none() { ready() } else { pasted() });
    assert_eq!(outcome, SendOutcome::NotTaken { why: "the text is still in the prompt".into() });
    assert_eq!(done, ["paste", "enter", "enter"]);
}

#[test]
fn a_screen_that_does_not_react_is_not_taken_and_gets_no_second_enter() {
    let (outcome, done) = polite(|_, _| ready());
    assert_eq!(outcome, SendOutcome::NotTaken { why: "the screen did not react".into() });
    assert_eq!(done, ["paste", "enter"]);
}

#[test]
fn an_answer_that_comes_before_the_next_look_is_a_reaction() {
    let answered = || seen(9, |read| (read.prompt, read.turn) = ((Some(7), 1), Arc::from("done")));
    let told = polite(|enters, _| if matches!(enters, Some(1)) { answered() } else { ready() });
    assert_eq!(told, (SendOutcome::Accepted, vec!["paste", "enter"]));
}

#[test]
fn nothing_is_sent_where_it_would_do_harm() {
    let refused = |shown: Seen| {
        let (outcome, done) = polite(|_, _| shown.clone());
        assert_eq!(done, Vec::<&str>::new());
        let SendOutcome::Refused(refusal) = outcome else { panic!("{outcome}") };
        refusal
    };
    assert_eq!(refused(working()), Refusal::Working);
    assert_eq!(refused(pasted()), Refusal::Draft);
    assert_eq!(refused(dialog()), Refusal::Dialog);
    assert_eq!(refused(seen(1, |read| read.modal = true)), Refusal::Menu);
    assert_eq!(refused(seen(1, |read| read.phase = Phase::Unknown)), Refusal::NotReady);
    assert_eq!(refused(seen(1, |read| read.supported = false)), Refusal::NotReady);
    assert_eq!(refused(Seen { read: None, ..ready() }), Refusal::NotReady);
    assert_eq!(refused(Seen { dead: true, ..ready() }), Refusal::Obstacle(crate::tmux::Obstacle::Dead));
}

#[test]
fn force_sends_to_whatever_has_no_dialog() {
    for shown in [working(), pasted(), Seen { read: None, ..ready() }] {
        let (_, done) = forced(|_, _| shown.clone());
        assert!(done.starts_with(&["paste", "enter"]), "{shown:?}");
    }
    assert_eq!(forced(|_, _| dialog()), (Refusal::Dialog.into(), vec![]));
}

#[test]
fn a_message_that_a_working_agent_queues_is_taken() {
    let queued = || Seen { screen: 8, ..working() };
    let typed = || Seen { screen: 7, ..seen(7, |read| (read.phase, read.editing) = (Phase::Active, Tri::Yes)) };
    let told = forced(|enters, _| match enters {
        None => working(),
        Some(0) => typed(),
        Some(_) => queued(),
    });
    assert_eq!(told, (SendOutcome::Accepted, vec!["paste", "enter"]));
}

#[test]
fn an_answer_that_is_still_growing_refuses() {
    let mut looks = 0;
    let (outcome, done) = polite(|_, _| {
        looks += 1;
        seen(looks, |read| read.turn = Arc::from("word ".repeat(looks as usize)))
    });
    assert_eq!((outcome, done), (Refusal::Working.into(), vec![]));
}

/// Right after an interruption a last stroke of work goes and the row that tells of it comes.
#[test]
fn the_last_strokes_of_an_interrupted_turn_do_not_refuse() {
    let interrupted = |text: &str| seen(5, |read| read.turn = Arc::from(text));
    let mut looks = 0;
    let told = polite(|enters, _| {
        looks += 1;
        match (enters, looks) {
            (None, 1) => working(),
            (None, 2) => interrupted("half an answer"),
            (None, _) => interrupted("half an answer Interrupted"),
            (Some(0), _) => pasted(),
            (Some(_), _) => working(),
        }
    });
    assert_eq!(told, (SendOutcome::Accepted, vec!["paste", "enter"]));
}

/// A row that no rule knows may be the agent's work in another shape.
#[test]
fn a_row_that_changes_refuses() {
    let mut looks = 0;
    let (outcome, done) = polite(|_, _| {
        looks += 1;
        seen(looks, |read| read.edge = Arc::from([1, looks]))
    });
    assert_eq!((outcome, done), (Refusal::Working.into(), vec![]));
}

#[test]
fn an_answer_with_short_pauses_refuses() {
    let mut looks = 0_u64;
    let (outcome, done) = polite(|_, _| {
        looks += 1;
        seen(looks, |read| read.turn = Arc::from("word ".repeat((looks / 2) as usize)))
    });
    assert_eq!((outcome, done), (Refusal::Working.into(), vec![]));
}

#[test]
fn an_agent_that_keeps_what_it_took_until_its_session_is_up_has_taken_it() {
    let kept = || seen(6, |read| (read.editing, read.pending) = (Tri::Yes, Tri::Yes));
    let told = forced(|enters, _| match enters {
        None => ready(),
        Some(0) => pasted(),
        Some(_) => kept(),
    });
    assert_eq!(told, (SendOutcome::Accepted, vec!["paste", "enter"]));
}

#[test]
fn enter_is_not_pressed_into_a_dialog_that_comes_up() {
    let (outcome, done) = polite(|enters, _| if enters.is_none() { ready() } else { dialog() });
    assert_eq!(done, ["paste"]);
    assert!(matches!(outcome, SendOutcome::NotTaken { why } if why.contains("dialog")));
}

#[test]
fn enter_is_not_pressed_when_the_agent_has_ended() {
    let shell = || Seen { command: "bash".into(), ..ready() };
    let (outcome, done) = polite(|enters, _| if enters.is_none() { ready() } else { shell() });
    assert_eq!(done, ["paste"]);
    assert!(matches!(outcome, SendOutcome::NotTaken { why } if why.contains("ended")));
}

#[test]
fn a_prompt_that_ends_the_agent_is_taken() {
    let shell = || Seen { command: "bash".into(), ..ready() };
    let told = polite(|enters, _| match enters {
        None => ready(),
        Some(0) => pasted(),
        Some(_) => shell(),
    });
    assert_eq!(told.0, SendOutcome::Accepted);
}

#[test]
fn a_failure_before_the_paste_is_a_refusal_and_after_it_is_not() {
    let mut steps = Steps::new(Insistence::Polite, Limits::default());
    let gone = || Refusal::Obstacle(crate::tmux::Obstacle::Gone);
    assert_eq!(steps.stopped(gone()), SendOutcome::Refused(gone()));
    steps.saw(ready(), Span::ZERO);
    assert_eq!(steps.saw(ready(), Span::from_millis(300)), Step::Paste);
    assert_eq!(steps.stopped(gone()), SendOutcome::Refused(gone()));
    steps.delivered(Span::from_millis(310));
    assert!(matches!(steps.stopped(gone()), SendOutcome::NotTaken { .. }));
}
