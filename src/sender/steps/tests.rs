use super::*;

fn seen(screen: u64, change: impl FnOnce(&mut ReadFrame)) -> PromptFrame {
    let mut read = ReadFrame {
        supported: true,
        phase: Phase::Ready,
        working: false,
        modal: false,
        context: UiContext::NormalPrompt,
        surface: Surface {
            accepting_input: Tri::Yes,
            editing_input: Tri::No,
            ready_posture: Tri::Yes,
            pending_input: Tri::No,
        },
        prompt: (None, 0),
        turn: Arc::from(""),
        edge: Arc::from([]),
    };
    change(&mut read);
    PromptFrame {
        screen,
        dead: false,
        dialog: false,
        read: Some(read),
        composed: None,
        drawn: 0,
        composer: 0,
        submitted: None,
    }
}

fn ready() -> PromptFrame {
    seen(1, |_| {})
}

fn pasted() -> PromptFrame {
    seen(2, |read| read.surface.editing_input = Tri::Yes)
}

fn working() -> PromptFrame {
    seen(3, |read| (read.phase, read.working, read.surface.ready_posture) = (Phase::Active, true, Tri::No))
}

fn dialog() -> PromptFrame {
    PromptFrame { dialog: true, ..seen(4, |read| read.modal = true) }
}

const HELLO: Prompt<'_> = Prompt { text: "hello", parts: 1, attaches: false, ends: false };

/// A terminal as a test plays it: it shows something for every poll, and time passes between the polls.
struct PlayedTerminal {
    steps: Steps<'static>,
    now: u64,
    done: Vec<&'static str>,
}

impl PlayedTerminal {
    fn new(when: When) -> Self {
        Self { steps: Steps::new(HELLO, when, StepLimits::default()), now: 0, done: vec![] }
    }

    /// Runs to the end. `shows` is asked at each poll with the number of Enters so far, `None` before the paste.
    fn run(&mut self, mut shows: impl FnMut(Option<usize>, u64) -> PromptFrame) -> Outcome {
        let mut step = Step::Poll { after: Span::ZERO };
        for _ in 0..1000 {
            step = match step {
                Step::End(outcome) => return outcome,
                Step::Poll { after } => {
                    self.now += after.as_millis() + 5;
                    let enters = self.done.iter().filter(|done| **done == "enter").count();
                    let pasted = self.done.contains(&"paste").then_some(enters);
                    self.steps.saw(shows(pasted, self.now), Span::from_millis(self.now))
                }
                Step::Paste { .. } => self.deliver("paste"),
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

fn polite(shows: impl FnMut(Option<usize>, u64) -> PromptFrame) -> (Outcome, Vec<&'static str>) {
    let mut played = PlayedTerminal::new(When::Now);
    (played.run(shows), played.done)
}

fn forced(shows: impl FnMut(Option<usize>, u64) -> PromptFrame) -> (Outcome, Vec<&'static str>) {
    let mut played = PlayedTerminal::new(When::Anyway);
    (played.run(shows), played.done)
}

#[test]
fn a_prompt_that_is_taken_is_pasted_and_entered_once() {
    let reported = polite(|enters, _| match enters {
        None => ready(),
        Some(0) => pasted(),
        Some(_) => working(),
    });
    assert_eq!(reported, (Outcome::Accepted(None), vec!["paste", "enter"]));
}

#[test]
fn enter_comes_apart_from_the_text() {
    let mut played = PlayedTerminal::new(When::Now);
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
    assert!(first(Some(1)) - first(Some(0)) >= StepLimits::default().enter_apart.as_millis());
}

#[test]
fn an_agent_that_did_something_else_at_enter_gets_one_more() {
    let holds = |text: &str, drawn| PromptFrame { composed: Some(Composed::of(text)), drawn, ..pasted() };
    // With the same look it may not have read the key; with more of the text it has read the paste.
    for (text, drawn, again) in [("hello", 1, true), ("hello", 0, false), ("ello", 1, false)] {
        let (outcome, done) = polite(|enters, _| match enters {
            None => ready(),
            Some(0) => holds("hello", 0),
            Some(1) => holds(text, drawn),
            Some(_) => working(),
        });
        assert_eq!(done.len(), if again { 3 } else { 2 }, "{text} {drawn}: {outcome}");
        assert_eq!(outcome.word(), if again { "accepted" } else { "unverified" }, "{text} {drawn}");
    }
}

#[test]
fn a_text_that_stays_in_the_prompt_is_not_taken_where_enter_did_something_else() {
    let (outcome, done) = polite(|enters, _| match enters {
        None => ready(),
        Some(0) => pasted(),
        Some(_) => PromptFrame { drawn: 1, composer: 1, ..pasted() },
    });
    assert_eq!(outcome, Outcome::NotTaken { why: "the text is still in the prompt".into() });
    assert_eq!(done, ["paste", "enter", "enter"]);
    let (outcome, done) = polite(|enters, _| if enters.is_none() { ready() } else { pasted() });
    assert_eq!(outcome, Outcome::Unverified { why: "the text was still in the prompt after 5 s".into() });
    assert_eq!(done, ["paste", "enter"]);
}

#[test]
fn enter_is_not_pressed_behind_what_somebody_else_types() {
    let holds = |text: &str| PromptFrame { composed: Some(Composed::of(text)), ..pasted() };
    for (shown, sends) in [("hello", true), ("ello", true), ("minehello", false), ("hellomine", false), ("mine", false)]
    {
        let (outcome, done) = polite(|enters, _| match enters {
            None => ready(),
            Some(0) => holds(shown),
            Some(_) => working(),
        });
        assert_eq!(outcome == Outcome::Accepted(None), sends, "{shown}: {outcome}");
        assert_eq!(done.contains(&"enter"), sends, "{shown}");
    }
}

#[test]
fn what_somebody_typed_right_before_enter_is_reported_when_it_was_submitted_along() {
    let shows = |text: &str| PromptFrame { submitted: Some(Submitted::of([text])), ..working() };
    for (shown, accepted) in [("hello", true), ("hellomine", false), ("minehello", false), ("earlier", true)] {
        let (outcome, done) = polite(|enters, _| match enters {
            None => PromptFrame { submitted: Some(Submitted::of(["earlierhello"])), ..ready() },
            Some(0) => pasted(),
            Some(_) => shows(shown),
        });
        assert_eq!(outcome == Outcome::Accepted(None), accepted, "{shown}: {outcome}");
        assert!(accepted || outcome.word() == "unverified", "{shown}: {outcome}");
        assert_eq!(done, ["paste", "enter"], "it is submitted once");
    }
    let same = PromptFrame { submitted: Some(Submitted::of(["hellomine"])), ..working() };
    assert!(!same.has_submitted_more_than("hello", &same), "it was there before");
}

#[test]
fn what_somebody_begins_after_enter_is_not_submitted_by_another_one() {
    let begun = || {
        let working =
            seen(5, |read| (read.phase, read.working, read.surface.editing_input) = (Phase::Active, true, Tri::Yes));
        PromptFrame { composed: Some(Composed::of("mine")), ..working }
    };
    let reported = polite(|enters, _| match enters {
        None => ready(),
        Some(0) => PromptFrame { composed: Some(Composed::of("hello")), ..pasted() },
        Some(_) => begun(),
    });
    assert_eq!(reported, (Outcome::Accepted(None), vec!["paste", "enter"]));
}

#[test]
fn what_changed_before_it_was_delivered_is_captured_again() {
    let mut steps = Steps::new(HELLO, When::Now, StepLimits::default());
    let at = Span::from_millis;
    let polls = |step: Step| matches!(step, Step::Poll { .. });
    assert!(polls(steps.saw(ready(), at(0))));
    assert_eq!(steps.saw(ready(), at(300)), Step::Paste { part: 0 });
    assert!(polls(steps.undelivered(at(310))), "nothing was pasted");
    assert_eq!(steps.saw(dialog(), at(400)), Step::End(Refusal::Hindrance(Hindrance::Dialog).into()));
    let mut steps = Steps::new(HELLO, When::Now, StepLimits::default());
    steps.saw(ready(), at(0));
    steps.saw(ready(), at(300));
    steps.delivered(at(310));
    assert_eq!(steps.saw(pasted(), at(500)), Step::PressEnter);
    assert!(polls(steps.undelivered(at(510))), "Enter was not pressed");
    let Step::End(outcome) = steps.saw(dialog(), at(600)) else { panic!("it goes on") };
    assert_eq!(outcome, not_taken("a dialog came up; Enter was not pressed"));
    // A terminal that is never as it was a moment ago is given up.
    let mut steps = Steps::new(HELLO, When::Now, StepLimits::default());
    steps.saw(ready(), at(0));
    steps.saw(ready(), at(300));
    assert_eq!(steps.undelivered(at(4000)), Step::End(Refusal::Obstacle(Obstacle::Changed).into()));
}

#[test]
fn a_screen_that_does_not_react_says_nothing_and_gets_no_second_enter() {
    let (outcome, done) = polite(|_, _| ready());
    assert_eq!(outcome, Outcome::Unverified { why: "the screen did not react within 5 s".into() });
    assert_eq!(done, ["paste", "enter"]);
}

#[test]
fn an_answer_that_comes_before_the_next_poll_is_a_reaction() {
    let answered = || seen(9, |read| (read.prompt, read.turn) = ((Some(7), 1), Arc::from("done")));
    let reported = polite(|enters, _| if matches!(enters, Some(1)) { answered() } else { ready() });
    assert_eq!(reported, (Outcome::Accepted(None), vec!["paste", "enter"]));
}

#[test]
fn nothing_is_sent_where_it_would_do_harm() {
    let refused = |shown: PromptFrame| {
        let (outcome, done) = polite(|_, _| shown.clone());
        assert_eq!(done, Vec::<&str>::new());
        let Outcome::Refused(refusal) = outcome else { panic!("{outcome}") };
        refusal
    };
    assert_eq!(refused(working()), Refusal::Hindrance(Hindrance::Working));
    assert_eq!(refused(pasted()), Refusal::Hindrance(Hindrance::Draft));
    assert_eq!(refused(dialog()), Refusal::Hindrance(Hindrance::Dialog));
    assert_eq!(refused(seen(1, |read| read.modal = true)), Refusal::Hindrance(Hindrance::Menu));
    assert_eq!(refused(seen(1, |read| read.phase = Phase::Unknown)), Refusal::Hindrance(Hindrance::NotReady));
    assert_eq!(refused(seen(1, |read| read.supported = false)), Refusal::Hindrance(Hindrance::NotReady));
    assert_eq!(refused(PromptFrame { read: None, ..ready() }), Refusal::Hindrance(Hindrance::NoProfile));
    assert_eq!(refused(PromptFrame { dead: true, ..ready() }), Refusal::Obstacle(Obstacle::Dead));
}

#[test]
fn force_sends_to_whatever_has_no_dialog() {
    for shown in [working(), pasted(), PromptFrame { read: None, ..ready() }] {
        let (_, done) = forced(|_, _| shown.clone());
        assert!(done.starts_with(&["paste", "enter"]), "{shown:?}");
    }
    assert_eq!(forced(|_, _| dialog()), (Refusal::Hindrance(Hindrance::Dialog).into(), vec![]));
}

#[test]
fn nobody_insists_on_a_text_that_a_command_or_a_shell_mode_would_take() {
    // While it works as well as at rest, and with a draft behind the mode.
    for change in [
        |_: &mut ReadFrame| {},
        |read: &mut ReadFrame| (read.phase, read.working) = (Phase::Active, true),
        |read: &mut ReadFrame| read.surface.editing_input = Tri::Yes,
    ] {
        let shown = seen(1, |read| {
            read.context = UiContext::CommandPrompt;
            change(read);
        });
        let refused: (Outcome, Vec<&str>) = (Refusal::Hindrance(Hindrance::Command).into(), vec![]);
        assert_eq!(forced(|_, _| shown.clone()), refused);
        assert_eq!(polite(|_, _| shown.clone()), refused);
    }
}

#[test]
fn a_text_in_parts_is_pasted_part_by_part_and_then_submitted_once() {
    let prompt = Prompt { text: "one two three", parts: 3, attaches: true, ends: false };
    let run = |shown: &'static str| {
        let mut steps = Steps::new(prompt, When::Now, StepLimits::default());
        let (mut now, mut done, mut step) = (0, Vec::new(), Step::Poll { after: Span::ZERO });
        loop {
            step = match step {
                Step::End(outcome) => return (done.join(" "), outcome),
                Step::Poll { after } => {
                    now += after.as_millis() + 5;
                    let frame = match done.last().map(String::as_str) {
                        None => ready(),
                        Some("enter") => working(),
                        Some(_) => PromptFrame {
                            composed: Some(Composed::of(shown)),
                            ..seen(10 + done.len() as u64, |read| read.surface.editing_input = Tri::Yes)
                        },
                    };
                    steps.saw(frame, Span::from_millis(now))
                }
                Step::Paste { part } => {
                    done.push(part.to_string());
                    steps.delivered(Span::from_millis(now))
                }
                Step::PressEnter => {
                    done.push("enter".to_owned());
                    steps.delivered(Span::from_millis(now))
                }
            };
        }
    };
    assert_eq!(run("one two"), ("0 1 2 enter".to_owned(), Outcome::Accepted(None)));
    let attached = Outcome::Accepted(Some("handed to the model as an attachment".to_owned()));
    assert_eq!(run("one [Pasted text #1 +3 lines]"), ("0 1 2 enter".to_owned(), attached));
    let (done, outcome) = run("one and what somebody types");
    assert_eq!((done.as_str(), outcome.word()), ("0", "not_taken"));
}

#[test]
fn a_message_that_a_working_agent_queues_is_taken() {
    let queued = || PromptFrame { screen: 8, ..working() };
    let typed = || PromptFrame {
        screen: 7,
        ..seen(7, |read| (read.phase, read.surface.editing_input) = (Phase::Active, Tri::Yes))
    };
    let reported = forced(|enters, _| match enters {
        None => working(),
        Some(0) => typed(),
        Some(_) => queued(),
    });
    assert_eq!(reported, (Outcome::Accepted(None), vec!["paste", "enter"]));
}

#[test]
fn an_answer_that_is_still_growing_refuses() {
    let mut polls = 0;
    let (outcome, done) = polite(|_, _| {
        polls += 1;
        seen(polls, |read| read.turn = Arc::from("word ".repeat(polls as usize)))
    });
    assert_eq!((outcome, done), (Refusal::Hindrance(Hindrance::Working).into(), vec![]));
}

/// Right after an interruption the last trace of work goes and the row that reports it comes.
#[test]
fn the_last_strokes_of_an_interrupted_turn_do_not_refuse() {
    let interrupted = |text: &str| seen(5, |read| read.turn = Arc::from(text));
    let mut polls = 0;
    let reported = polite(|enters, _| {
        polls += 1;
        match (enters, polls) {
            (None, 1) => working(),
            (None, 2) => interrupted("half an answer"),
            (None, _) => interrupted("half an answer Interrupted"),
            (Some(0), _) => pasted(),
            (Some(_), _) => working(),
        }
    });
    assert_eq!(reported, (Outcome::Accepted(None), vec!["paste", "enter"]));
}

/// A row that no rule knows may be the agent's work in another shape.
#[test]
fn a_row_that_changes_refuses() {
    let mut polls = 0;
    let (outcome, done) = polite(|_, _| {
        polls += 1;
        seen(polls, |read| read.edge = Arc::from([1, polls]))
    });
    assert_eq!((outcome, done), (Refusal::Hindrance(Hindrance::Working).into(), vec![]));
}

#[test]
fn an_answer_with_short_pauses_refuses() {
    let mut polls = 0_u64;
    let (outcome, done) = polite(|_, _| {
        polls += 1;
        seen(polls, |read| read.turn = Arc::from("word ".repeat((polls / 2) as usize)))
    });
    assert_eq!((outcome, done), (Refusal::Hindrance(Hindrance::Working).into(), vec![]));
}

#[test]
fn an_agent_that_keeps_what_it_took_until_its_session_is_up_has_taken_it() {
    let kept = || seen(6, |read| (read.surface.editing_input, read.surface.pending_input) = (Tri::Yes, Tri::Yes));
    let reported = forced(|enters, _| match enters {
        None => ready(),
        Some(0) => pasted(),
        Some(_) => kept(),
    });
    assert_eq!(reported, (Outcome::Accepted(None), vec!["paste", "enter"]));
}

#[test]
fn enter_is_not_pressed_into_a_dialog_that_comes_up() {
    let (outcome, done) = polite(|enters, _| if enters.is_none() { ready() } else { dialog() });
    assert_eq!(done, ["paste"]);
    assert!(matches!(outcome, Outcome::NotTaken { why } if why.contains("dialog")));
}

#[test]
fn enter_is_not_pressed_when_the_agent_has_ended() {
    let dead = || PromptFrame { dead: true, ..ready() };
    let (outcome, done) = polite(|enters, _| if enters.is_none() { ready() } else { dead() });
    assert_eq!(done, ["paste"]);
    assert!(matches!(outcome, Outcome::NotTaken { why } if why.contains("ended")));
}

#[test]
fn an_agent_that_ends_has_taken_what_asked_it_to() {
    let shell = || Refusal::AgentGone { tool: "claude".into(), command: "dash".into() };
    let at = Span::from_millis;
    for ends in [true, false] {
        let mut steps = Steps::new(Prompt { ends, ..HELLO }, When::Now, StepLimits::default());
        assert_eq!(steps.stopped(shell()), Outcome::Refused(shell()), "before the paste");
        steps.saw(ready(), at(0));
        steps.saw(ready(), at(300));
        steps.delivered(at(310));
        let reported = steps.stopped(shell());
        assert!(
            matches!(&reported, Outcome::Unverified { why } if why.contains("dash, which runs there now, may have")),
            "{reported}"
        );
        assert_eq!(steps.saw(pasted(), at(500)), Step::PressEnter);
        steps.delivered(at(510));
        let (reported, dead) = (steps.stopped(shell()), steps.saw(PromptFrame { dead: true, ..pasted() }, at(600)));
        assert_eq!(reported == Outcome::Accepted(None), ends, "{reported}");
        assert_eq!(dead == Step::End(Outcome::Accepted(None)), ends);
    }
}

#[test]
fn a_tmux_that_does_not_answer_may_have_pressed_enter() {
    let unheard = || Refusal::from(crate::tmux::Error::Garbled("half an answer".into()));
    let at = Span::from_millis;
    let mut steps = Steps::new(HELLO, When::Now, StepLimits::default());
    steps.saw(ready(), at(0));
    steps.saw(ready(), at(300));
    assert!(matches!(steps.stopped(unheard()), Outcome::Unverified { .. }), "at the paste");
    steps.delivered(at(310));
    assert!(matches!(steps.stopped(unheard()), Outcome::NotTaken { .. }), "Enter was certainly not pressed");
    steps.saw(pasted(), at(500));
    assert!(matches!(steps.stopped(unheard()), Outcome::Unverified { .. }), "at Enter");
    let blocked = Refusal::Obstacle(Obstacle::InMode);
    assert!(matches!(steps.stopped(blocked), Outcome::NotTaken { .. }), "tmux said no");
}

#[test]
fn a_failure_before_the_paste_is_a_refusal_and_after_it_is_not() {
    let mut steps = Steps::new(HELLO, When::Now, StepLimits::default());
    let gone = || Refusal::Obstacle(Obstacle::Gone);
    assert_eq!(steps.stopped(gone()), Outcome::Refused(gone()));
    steps.saw(ready(), Span::ZERO);
    assert_eq!(steps.saw(ready(), Span::from_millis(300)), Step::Paste { part: 0 });
    assert_eq!(steps.stopped(gone()), Outcome::Refused(gone()));
    steps.delivered(Span::from_millis(310));
    assert!(matches!(steps.stopped(gone()), Outcome::NotTaken { .. }));
}

#[test]
fn a_text_in_parts_is_never_half_sent() {
    let at = Span::from_millis;
    let gone = || Refusal::Obstacle(Obstacle::Gone);
    let begun = || {
        let mut steps = Steps::new(Prompt { parts: 2, ..HELLO }, When::Now, StepLimits::default());
        steps.saw(ready(), at(0));
        assert_eq!(steps.saw(ready(), at(300)), Step::Paste { part: 0 });
        // Whoever asks again is told the same again.
        assert_eq!(steps.saw(ready(), at(305)), Step::Paste { part: 0 });
        let shell = Refusal::AgentGone { tool: "claude".into(), command: "dash".into() };
        assert_eq!(steps.stopped(shell.clone()), shell.into(), "nothing is pasted yet");
        assert!(matches!(steps.delivered(at(310)), Step::Poll { .. }));
        assert!(matches!(steps.delivered(at(312)), Step::Poll { .. }), "nothing was to be delivered");
        assert_eq!(steps.saw(pasted(), at(400)), Step::Paste { part: 1 });
        steps
    };
    let mut steps = begun();
    let outcome = steps.stopped(gone());
    assert!(matches!(&outcome, Outcome::NotTaken { why } if why.contains("only a part")), "{outcome}");
    // The screen moved: it is looked at again, for as long as a reaction may take.
    assert!(matches!(steps.undelivered(at(410)), Step::Poll { .. }));
    assert!(matches!(steps.saw(pasted(), at(500)), Step::Poll { .. }), "never Enter behind the first part alone");
    assert_eq!(steps.saw(pasted(), at(1900)), Step::Paste { part: 1 });
}

#[test]
fn an_enter_that_was_not_pressed_is_tried_again_for_as_long_as_a_reaction_takes() {
    let at = Span::from_millis;
    let holds = |drawn| PromptFrame { composed: Some(Composed::of("hello")), drawn, ..pasted() };
    let mut steps = Steps::new(HELLO, When::Now, StepLimits::default());
    steps.saw(ready(), at(0));
    steps.saw(ready(), at(300));
    steps.delivered(at(310));
    assert_eq!(steps.saw(holds(0), at(500)), Step::PressEnter);
    assert_eq!(steps.saw(holds(0), at(505)), Step::PressEnter, "asked again");
    assert!(matches!(steps.undelivered(at(510)), Step::Poll { .. }));
    assert_eq!(steps.saw(holds(0), at(600)), Step::PressEnter);
    steps.delivered(at(610));
    // The second one, once the first did something else.
    assert_eq!(steps.saw(holds(1), at(1700)), Step::PressEnter);
    assert!(matches!(steps.undelivered(at(1710)), Step::Poll { .. }));
    let outcome = steps.saw(holds(1), at(7000));
    assert_eq!(outcome, Step::End(unverified("the text was still in the prompt after 5 s")), "no third one");
}

#[test]
fn without_a_supported_reading_only_who_insists_sends_and_never_into_a_dialog() {
    let unsupported = || seen(1, |read| read.supported = false);
    let unread = |screen| PromptFrame { read: None, screen, ..ready() };
    let refused = |frame: &PromptFrame, when| frame.check(when).err();
    assert_eq!(refused(&unsupported(), When::Now), Some(Hindrance::NotReady.into()));
    assert_eq!(refused(&unread(1), When::Now), Some(Hindrance::NoProfile.into()));
    assert_eq!((refused(&unsupported(), When::Anyway), refused(&unread(1), When::Anyway)), (None, None));
    for frame in [unsupported(), unread(1)] {
        let asking = PromptFrame { dialog: true, ..frame };
        assert_eq!(refused(&asking, When::Anyway), Some(Hindrance::Dialog.into()));
    }
    assert!(unread(2).reacts_to(&unread(1)) && !unread(1).reacts_to(&unread(1)));
}
