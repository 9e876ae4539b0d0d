use super::*;
use crate::dialog::Notes;
use crate::screen::Screen;

fn dialog(text: &str) -> Dialog {
    let screen = Screen::from_text(text, 80);
    Dialog::read(&screen, 0..screen.rows().len())
}

fn numbers(marked: usize) -> Dialog {
    let mark = |n: usize| if n == marked { '❯' } else { ' ' };
    dialog(&format!("Do it?\n{} 1. Yes\n{} 2. Always\n{} 3. No", mark(0), mark(1), mark(2)))
}

fn rows(marked: usize) -> Dialog {
    let mark = |n: usize| if n == marked { '❯' } else { ' ' };
    dialog(&format!("Do it?\n{} Yes\n{} Always\n{} No", mark(0), mark(1), mark(2)))
}

fn letters(typed: &str) -> Dialog {
    dialog(&format!("Do it? (Y)es/(N)o [Yes]: {typed}"))
}

/// Runs an answer to its end against a terminal that shows what `shows` says for the keys that were pressed and the
/// time. Returns the keys and what became of it.
fn run(
    seen: &Dialog,
    reply: &Reply,
    mut shows: impl FnMut(&[String], u64) -> (Option<Dialog>, After),
) -> (String, Outcome) {
    let mut answering = Answering::new(seen, reply, StepLimits::default());
    let (mut now, mut pressed) = (0, Vec::new());
    let mut step = AnswerStep::Poll { after: Span::ZERO };
    loop {
        step = match step {
            AnswerStep::End(answered) => return (pressed.join(" "), answered),
            AnswerStep::Poll { after } => {
                now += after.as_millis() + 5;
                let (dialog, after) = shows(&pressed, now);
                answering.saw(&DialogFrame { dialog, after }, Span::from_millis(now))
            }
            AnswerStep::Paste(_) => {
                now += 5;
                pressed.push("paste".to_owned());
                answering.delivered(Span::from_millis(now))
            }
            AnswerStep::Press(keys) => {
                now += 5;
                pressed.extend(keys.iter().map(Key::to_string));
                answering.delivered(Span::from_millis(now))
            }
        };
    }
}

fn taken(after: After) -> Outcome {
    accepted(after)
}

#[test]
fn a_number_answers_by_itself() {
    let reported = run(&numbers(0), &Reply::Option(2), |pressed, _| match pressed.len() {
        0 => (Some(numbers(0)), After::AnotherDialog),
        _ => (None, After::Working),
    });
    assert_eq!(reported, ("3".to_owned(), taken(After::Working)));
}

#[test]
fn a_number_that_only_marks_is_followed_by_enter() {
    let reported = run(&numbers(0), &Reply::Option(2), |pressed, _| match pressed.len() {
        0 => (Some(numbers(0)), After::AnotherDialog),
        1 => (Some(numbers(2)), After::AnotherDialog),
        _ => (None, After::Ready),
    });
    assert_eq!(reported, ("3 Enter".to_owned(), taken(After::Ready)));
    // The marked option is taken by Enter alone: Codex's trust dialog does not hear its number.
    let reported = run(&numbers(0), &Reply::Option(0), |pressed, _| match pressed.len() {
        0 => (Some(numbers(0)), After::AnotherDialog),
        _ => (None, After::Ready),
    });
    assert_eq!(reported, ("Enter".to_owned(), taken(After::Ready)));
}

#[test]
fn another_dialog_gets_no_key() {
    let refused = |shown: Option<Dialog>| {
        let (pressed, answered) = run(&numbers(0), &Reply::Option(0), |_, _| (shown.clone(), After::AnotherDialog));
        assert_eq!(pressed, "");
        answered
    };
    assert_eq!(refused(None), Refusal::NoDialog.into());
    assert_eq!(refused(Some(rows(0))), Refusal::AnotherDialog.into());
    let (pressed, answered) = run(&letters(""), &Reply::Option(0), |_, _| (Some(letters("n")), After::AnotherDialog));
    assert_eq!((pressed.as_str(), answered), ("", Refusal::Begun.into()));
    let (pressed, answered) = run(&numbers(0), &Reply::Option(7), |_, _| (Some(numbers(0)), After::AnotherDialog));
    assert_eq!((pressed.as_str(), answered), ("", Refusal::NoSuchOption.into()));
}

#[test]
fn a_mark_is_moved_step_by_step_from_where_it_stands_now() {
    // The operator saw it on the first option, and somebody has moved it to the second since.
    let reported = run(&rows(0), &Reply::Option(2), |pressed, _| match pressed.len() {
        0 => (Some(rows(1)), After::AnotherDialog),
        1 => (Some(rows(2)), After::AnotherDialog),
        _ => (None, After::Working),
    });
    assert_eq!(reported, ("Down Enter".to_owned(), taken(After::Working)));
    let reported = run(&rows(2), &Reply::Option(0), |pressed, now| match pressed.len() {
        // Half drawn for a moment.
        1 if now < 100 => (None, After::Unknown),
        n @ 0..3 => (Some(rows(2 - n)), After::AnotherDialog),
        _ => (Some(dialog("Next one?\n❯ Yes\n  No")), After::AnotherDialog),
    });
    assert_eq!(reported, ("Up Up Enter".to_owned(), taken(After::AnotherDialog)));
}

#[test]
fn enter_is_not_pressed_on_what_was_not_meant() {
    let stuck = run(&rows(0), &Reply::Option(2), |_, _| (Some(rows(0)), After::AnotherDialog));
    let why = "the agent's cursor is not where it was moved to; Enter was not pressed";
    assert_eq!(stuck, ("Down".to_owned(), not_taken(why)));
    let other = run(&rows(0), &Reply::Option(2), |pressed, _| match pressed.len() {
        0 => (Some(rows(0)), After::AnotherDialog),
        _ => (Some(numbers(2)), After::AnotherDialog),
    });
    assert_eq!(other, ("Down".to_owned(), not_taken("the dialog changed; Enter was not pressed")));
}

#[test]
fn a_letter_is_followed_by_enter_where_it_waits_for_it() {
    let reported = run(&letters(""), &Reply::Option(1), |pressed, _| match pressed.len() {
        0 => (Some(letters("")), After::AnotherDialog),
        1 => (Some(letters("n")), After::AnotherDialog),
        _ => (None, After::Ready),
    });
    assert_eq!(reported, ("n Enter".to_owned(), taken(After::Ready)));
    let reported = run(&letters(""), &Reply::Option(1), |pressed, _| match pressed.len() {
        0 => (Some(letters("")), After::AnotherDialog),
        _ => (None, After::Ready),
    });
    assert_eq!(reported, ("n".to_owned(), taken(After::Ready)));
}

#[test]
fn a_dialog_that_comes_back_was_not_answered() {
    let reported = run(&numbers(0), &Reply::Option(0), |pressed, now| match (pressed.len(), now) {
        (1, 50..300) => (None, After::Unknown),
        _ => (Some(numbers(0)), After::AnotherDialog),
    });
    assert_eq!(reported, ("Enter".to_owned(), unverified("the dialog was still there after 5 s")));
    // A number that chose at once, and the next dialog asks the same with the mark where the number would have moved it.
    let reported = run(&numbers(0), &Reply::Option(2), |pressed, now| match (pressed.len(), now) {
        (0, _) => (Some(numbers(0)), After::AnotherDialog),
        (_, ..300) => (None, After::Unknown),
        _ => (Some(numbers(2)), After::AnotherDialog),
    });
    assert_eq!(reported, ("3".to_owned(), unverified("the dialog was still there after 5 s")));
}

fn boxes(marked: usize, ticks: [bool; 2]) -> Dialog {
    let mark = |n: usize| if n == marked { '❯' } else { ' ' };
    let tick = |n: usize| if ticks[n] { '✔' } else { ' ' };
    let head = if ticks == [false, false] { '☐' } else { '☒' };
    dialog(&format!(
        "{head} Parts\n\nWhich?\n{} 1. [{}] Search\n     Full text\n{} 2. [{}] Mail\n{}    Submit\n\n{} 3. Chat\n\nEnter to select",
        mark(0),
        tick(0),
        mark(1),
        tick(1),
        mark(2),
        mark(3)
    ))
}

#[test]
fn ticks_are_set_and_handed_in_with_their_review() {
    let review = dialog("Review your answers\n ● Which?\n   → Mail\n\n❯ 1. Submit answers\n  2. Cancel");
    let other = dialog("Review your answers\n ● Which?\n   → Search\n\n❯ 1. Submit answers\n  2. Cancel");
    let reply = Reply::meant("mail", &boxes(0, [true, false])).expect("an option");
    assert_eq!(reply, Reply::Ticks(vec![1]));
    for (next, keys, after) in
        [(review, "1 2 Down Down Enter Enter", After::Ready), (other, "1 2 Down Down Enter", After::AnotherDialog)]
    {
        let reported = run(&boxes(0, [true, false]), &reply, |pressed, _| match pressed.len() {
            0 => (Some(boxes(0, [true, false])), After::AnotherDialog),
            1 => (Some(boxes(0, [false, false])), After::AnotherDialog),
            n @ 2..5 => (Some(boxes(n - 2, [false, true])), After::AnotherDialog),
            5 => (Some(next.clone()), After::AnotherDialog),
            _ => (None, After::Ready),
        });
        assert_eq!(reported, (keys.to_owned(), taken(after)));
    }
    // What is not ticked is not handed in.
    let reported =
        run(&boxes(0, [false, false]), &reply, |_, _| (Some(boxes(0, [false, false])), After::AnotherDialog));
    assert_eq!(reported, ("2".to_owned(), not_taken("an option cannot be ticked; nothing was submitted")));
}

fn entry(marked: usize, text: &str) -> Dialog {
    let mark = |n: usize| if n == marked { '❯' } else { ' ' };
    dialog(&format!("Which?\n{} 1. SQLite\n{} 2. {text}\n", mark(0), mark(1)))
}

#[test]
fn a_text_is_typed_in_the_row_of_its_option_and_nowhere_else() {
    let text = PasteText::new("/none; of them").expect("a text");
    let reply = Reply::Text { option: 1, text };
    let reported = run(&entry(0, "Type something."), &reply, |pressed, _| match pressed.len() {
        0 => (Some(entry(0, "Type something.")), After::AnotherDialog),
        1 => (Some(entry(1, "Type something.")), After::AnotherDialog),
        2 => (Some(entry(1, "/none; of them")), After::AnotherDialog),
        _ => (None, After::Working),
    });
    assert_eq!(reported, ("Down paste Enter".to_owned(), taken(After::Working)));
    let reported = run(&entry(1, "Type something."), &reply, |pressed, _| match pressed.len() {
        0 => (Some(entry(1, "Type something.")), After::AnotherDialog),
        _ => (Some(entry(1, "mine/none; of them")), After::AnotherDialog),
    });
    let why = "the text there is not the one that was typed; Enter was not pressed";
    assert_eq!(reported, ("paste".to_owned(), not_taken(why)));
    let reported = run(
        &entry(0, "Type something."),
        &Reply::Text { option: 0, text: PasteText::new("x").expect("a text") },
        |_, _| (Some(entry(0, "Type something.")), After::AnotherDialog),
    );
    assert_eq!(reported, (String::new(), Refusal::NoSuchOption.into()));
}

/// A question whose last option takes a note, with what stands in the line for it where that is open.
fn noted(marked: usize, note: Option<&str>) -> Dialog {
    let mark = |n: usize| if n == marked { '›' } else { ' ' };
    let text = format!("Which?\n{} 1. Row\n{} 2. None of the above\n\ntab to add notes", mark(0), mark(1));
    let screen = Screen::from_text(&text, 80);
    let mut dialog = Dialog::read(&screen, 0..screen.rows().len());
    let (option, offered) = ("none of the above".to_owned(), "tab to add notes".to_owned());
    dialog.set_notes(&Notes { option, key: Press::Tab, offered }, &screen);
    note.into_iter().for_each(|note| dialog.has_note(note.to_owned(), 7));
    dialog
}

#[test]
fn a_note_is_typed_in_its_own_line_once_that_is_open() {
    let reply = Reply::Text { option: 1, text: PasteText::new("1. Both of them").expect("a text") };
    let shows = |dialog| (Some(dialog), After::AnotherDialog);
    let reported = run(&noted(0, None), &reply, |pressed, _| match pressed.len() {
        0 => shows(noted(0, None)),
        1 => shows(noted(1, None)),
        2 => shows(noted(1, Some(""))),
        3 => shows(noted(1, Some("1. Both of them"))),
        _ => (None, After::Working),
    });
    assert_eq!(reported, ("Down Tab paste Enter".to_owned(), taken(After::Working)));
    // An agent that opens no line is typed nothing, and no text of somebody else is sent.
    let reported = run(&noted(1, None), &reply, |_, _| shows(noted(1, None)));
    assert_eq!(reported, ("Tab".to_owned(), not_taken("the agent opened no line for the text; nothing was typed")));
    let reported = run(&noted(1, None), &reply, |pressed, _| match pressed.len() {
        0 => shows(noted(1, None)),
        1 => shows(noted(1, Some(""))),
        _ => shows(noted(1, Some("so 1. Both of them"))),
    });
    let why = "the text there is not the one that was typed; Enter was not pressed";
    assert_eq!(reported, ("Tab paste".to_owned(), not_taken(why)));
    let reported = run(&noted(0, None), &Reply::Option(0), |_, _| shows(noted(0, Some(""))));
    assert_eq!(reported, (String::new(), Refusal::Begun.into()), "a number would be typed there");
}

#[test]
fn keys_are_pressed_as_they_are() {
    let keys = Reply::Keys(vec!["Escape".parse().expect("a key")]);
    let reported = run(&numbers(0), &keys, |pressed, _| match pressed.len() {
        0 => (Some(numbers(0)), After::AnotherDialog),
        _ => (None, After::Unknown),
    });
    assert_eq!(reported, ("Escape".to_owned(), taken(After::Unknown)));
}

#[test]
fn an_answer_is_an_option_or_a_key() {
    let meant = |text: &str| Reply::meant(text, &numbers(0)).map_err(|no_choice| no_choice.to_string());
    let key = |name: &str| Ok(Reply::Keys(vec![name.parse().expect("a key")]));
    assert_eq!(meant("2"), Ok(Reply::Option(1)));
    assert_eq!(meant("no"), Ok(Reply::Option(2)));
    assert_eq!(meant("alw"), Ok(Reply::Option(1)));
    assert_eq!(meant("Escape"), key("Escape"));
    assert_eq!((meant("y"), meant("N")), (Ok(Reply::Option(0)), Ok(Reply::Option(2))));
    assert_eq!(meant("x"), Err("the dialog has no option `x`".to_owned()));
    let lettered = dialog("Run it?\n❯ 1. Yes, proceed (y)\n  2. Yes, always (p)\n  3. No (esc)");
    let place = |text: &str| Reply::meant(text, &lettered).ok();
    assert_eq!((place("y"), place("p"), place("q")), (Some(Reply::Option(0)), Some(Reply::Option(1)), None));
    let unread = dialog("Press p to go on");
    assert_eq!(Reply::meant("p", &unread), Ok(Reply::Keys(vec!["p".parse().expect("a key")])));
    assert_eq!(meant("4"), Err("the dialog has no option `4`".to_owned()));
    assert_eq!(meant("maybe"), Err("the dialog has no option `maybe`".to_owned()));
}

#[test]
fn a_refusal_that_is_asked_about_once_more_is_brought_to_its_end() {
    let mut seen = numbers(0);
    seen.set_verdicts(&["yes".to_owned()], &["no".to_owned()]);
    let mut instead = dialog("Reject permission\n\nTell it what to do differently");
    instead.set_instead(&["reject permission".to_owned()]);
    let shows = |seen: &Dialog, instead: &Dialog, pressed: &[String]| match pressed {
        [] => (Some(seen.clone()), After::AnotherDialog),
        [_] => (Some(instead.clone()), After::AnotherDialog),
        _ => (None, After::Ready),
    };
    let reported = run(&seen, &Reply::Option(2), |pressed, _| shows(&seen, &instead, pressed));
    assert_eq!(reported, ("3 Enter".to_owned(), taken(After::Ready)));
    // A yes never confirms anything, and another dialog is the operator's.
    let reported = run(&seen, &Reply::Option(0), |pressed, _| shows(&seen, &instead, pressed));
    assert_eq!(reported, ("Enter".to_owned(), taken(After::AnotherDialog)));
    let reported = run(&seen, &Reply::Option(2), |pressed, _| shows(&seen, &dialog("Delete all?\n❯ 1. Yes"), pressed));
    assert_eq!(reported, ("3".to_owned(), taken(After::AnotherDialog)));
}

#[test]
fn an_option_that_only_escape_chooses_gets_that_and_no_enter() {
    let mut seen = numbers(0);
    let label = seen.options[2].label.to_lowercase();
    seen.set_escapes(&[label]);
    let shows = |pressed: &[String]| match pressed {
        [] => (Some(seen.clone()), After::AnotherDialog),
        _ => (None, After::Ready),
    };
    assert_eq!(run(&seen, &Reply::Option(2), |pressed, _| shows(pressed)), ("Escape".to_owned(), taken(After::Ready)));
}

#[test]
fn what_was_not_pressed_is_refused_and_not_unverified() {
    let obstacle = || Refusal::Obstacle(Obstacle::InMode);
    for (seen, reply) in [(numbers(0), Reply::Option(2)), (rows(0), Reply::Option(2)), (numbers(0), Reply::Option(0))] {
        let mut answering = Answering::new(&seen, &reply, StepLimits::default());
        let frame = DialogFrame { dialog: Some(seen.clone()), after: After::AnotherDialog };
        assert!(matches!(answering.saw(&frame, Span::from_millis(5)), AnswerStep::Press(_)));
        assert_eq!(answering.stopped(obstacle()), obstacle().into(), "tmux refused the first key");
        answering.delivered(Span::from_millis(10));
        assert!(!matches!(answering.stopped(obstacle()), Outcome::Refused(_)), "a key was pressed");
    }
    let (seen, reply) = (numbers(0), Reply::Option(0));
    let first = Answering::new(&seen, &reply, StepLimits::default());
    let unheard = Refusal::from(crate::tmux::Error::Garbled("half an answer".into()));
    for refusal in [obstacle(), unheard] {
        assert_eq!(first.stopped(refusal.clone()), refusal.into(), "no key was even asked for");
    }
}

#[test]
fn an_agent_whose_sub_agents_go_on_is_not_said_to_be_ready() {
    let (_, outcome) = run(&numbers(0), &Reply::Option(0), |pressed, _| match pressed.len() {
        0 => (Some(numbers(0)), After::AnotherDialog),
        _ => (None, After::Background),
    });
    assert_eq!(outcome.to_string(), "accepted, and work goes on in the background");
}

#[test]
fn a_dialog_that_comes_and_goes_for_ever_is_not_said_to_be_answered() {
    let reported = run(&numbers(0), &Reply::Option(0), |pressed, now| match pressed.len() {
        1 if now % 1000 < 500 => (None, After::Unknown),
        _ => (Some(numbers(0)), After::AnotherDialog),
    });
    assert_eq!(reported, ("Enter".to_owned(), unverified("the dialog comes and goes")));
}

#[test]
fn a_dialog_that_shows_that_it_was_taken_is_answered_unless_it_did_before() {
    for (before, outcome) in
        [(false, taken(After::Unknown)), (true, unverified("the dialog was still there after 5 s"))]
    {
        let shown = |taken| {
            let mut dialog = numbers(0);
            dialog.taken = taken;
            (Some(dialog), After::AnotherDialog)
        };
        let reported = run(&numbers(0), &Reply::Option(0), |pressed, _| shown(before || !pressed.is_empty()));
        assert_eq!(reported, ("Enter".to_owned(), outcome));
    }
}

#[test]
fn another_dialog_after_keys_or_after_a_review_gets_no_enter() {
    let submit = "Review your answers\n ● Which?\n   → Mail\n\n❯ 1. Submit answers\n  2. Cancel";
    let keys = Reply::Keys(vec![Key::enter()]);
    let reported = run(&numbers(0), &keys, |pressed, _| match pressed.len() {
        0 => (Some(numbers(0)), After::AnotherDialog),
        _ => (Some(dialog(submit)), After::AnotherDialog),
    });
    assert_eq!(reported, ("Enter".to_owned(), taken(After::AnotherDialog)));
    // A review that stays is not handed in twice; one that was not pressed because it moved is.
    let (seen, reply) = (boxes(2, [false, true]), Reply::Ticks(vec![1]));
    let mut answering = Answering::new(&seen, &reply, StepLimits::default());
    let sees = |answering: &mut Answering<'_>, dialog: Option<Dialog>, now| {
        answering.saw(&DialogFrame { dialog, after: After::Unknown }, Span::from_millis(now))
    };
    let enter = AnswerStep::Press(vec![Key::enter()]);
    assert_eq!(sees(&mut answering, Some(seen.clone()), 5), enter);
    answering.delivered(Span::from_millis(10));
    assert!(matches!(sees(&mut answering, None, 100), AnswerStep::Poll { .. }));
    assert_eq!(sees(&mut answering, Some(dialog(submit)), 200), enter);
    answering.undelivered();
    assert_eq!(sees(&mut answering, Some(dialog(submit)), 300), enter);
    answering.delivered(Span::from_millis(310));
    assert!(matches!(sees(&mut answering, Some(dialog(submit)), 400), AnswerStep::Poll { .. }));
    let left = sees(&mut answering, Some(dialog(submit)), 6000);
    assert_eq!(left, AnswerStep::End(unverified("the dialog was still there after 5 s")));
}

#[test]
fn ticks_are_not_handed_in_where_what_is_meant_cannot_be_seen() {
    let reply = Reply::Ticks(vec![1]);
    let shows = |dialog| (Some(dialog), After::AnotherDialog);
    let seen = boxes(0, [false, false]);
    let of = |keys: &str, why: &str| (keys.to_owned(), not_taken(why));
    // It goes while it is ticked.
    let reported = run(&seen, &reply, |pressed, _| match pressed.len() {
        0 => shows(boxes(0, [false, false])),
        _ => (None, After::Ready),
    });
    assert_eq!(reported, of("2", "the dialog changed; nothing was submitted"));
    // Somebody ticks another one while the mark is on its way.
    let reported = run(&seen, &reply, |pressed, _| match pressed.len() {
        0 => shows(boxes(0, [false, true])),
        _ => shows(boxes(1, [true, true])),
    });
    assert_eq!(reported, of("Down", "what is ticked has changed; nothing was submitted"));
    let reported = run(&seen, &reply, |_, _| shows(boxes(0, [false, true])));
    assert_eq!(reported, of("Down", "the agent's cursor does not reach the row that submits; Enter was not pressed"));
    let mut unmarked = boxes(0, [false, true]);
    unmarked.marked = None;
    let reported = run(&seen, &reply, |_, _| shows(unmarked.clone()));
    assert_eq!(reported, of("", "the agent's cursor cannot be seen; nothing was submitted"));
    // No single key ticks an option with two digits.
    let mut many = seen.clone();
    many.options[1].name = "12".to_owned();
    let reported = run(&many, &reply, |_, _| shows(many.clone()));
    assert_eq!(reported, (String::new(), Refusal::NoSuchOption.into()));
}

#[test]
fn nothing_is_typed_where_the_mark_does_not_arrive_or_somebody_types() {
    let reply = Reply::Text { option: 1, text: PasteText::new("none").expect("a text") };
    let shows = |dialog| (Some(dialog), After::AnotherDialog);
    let stuck = run(&entry(0, "Type something."), &reply, |_, _| shows(entry(0, "Type something.")));
    let why = "the agent's cursor is not where it was moved to; nothing was typed";
    assert_eq!(stuck, ("Down".to_owned(), not_taken(why)));
    let typed = run(&noted(1, None), &reply, |pressed, _| match pressed.len() {
        0 => shows(noted(1, None)),
        _ => shows(noted(1, Some("so"))),
    });
    assert_eq!(typed, ("Tab".to_owned(), not_taken("somebody types there; nothing was typed from here")));
}
