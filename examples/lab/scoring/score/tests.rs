use super::*;

/// Scores one field with hand-made labels and answers, both as (milliseconds, value).
fn judge(field: Field, truth: &[(u64, Option<&str>)], answers: &[(u64, &'static str)], end: u64) -> Score {
    let lines: Vec<String> = truth
        .iter()
        .map(|(at, value)| {
            let marker = format!("truth {}", serde_json::json!({ field.word(): value }));
            serde_json::json!([*at as f64 / 1000.0, "m", marker]).to_string()
        })
        .collect();
    let text = format!("{{\"version\": 2, \"width\": 9, \"height\": 2}}\n{}", lines.join("\n"));
    let truth = Truth::of(&Recording::parse("hand", text.as_bytes()).unwrap(), "hand").unwrap();
    let mut given = PublishedValues::default();
    answers.iter().for_each(|(at, answer)| given.set(field, Span::from_millis(*at), answer));
    compare(&truth, &given, Span::from_millis(end), Span::from_secs(1))
}

fn tally(score: &Score, field: Field) -> (u64, u64) {
    let tally = score.tallies[field as usize];
    (tally.judged_ms, tally.right_ms)
}

fn spells(score: &Score) -> Vec<(u64, u64, &'static str, &'static str)> {
    score.spells.iter().map(|s| (s.from.as_millis(), s.to.as_millis(), s.truth, s.answer)).collect()
}

#[test]
fn time_that_is_not_judged_does_not_count() {
    let score = judge(
        Field::Phase,
        &[(1000, Some("ready")), (3000, None), (8000, Some("ready"))],
        &[(0, "ready"), (4000, "active"), (7000, "ready")],
        10_000,
    );
    assert_eq!(tally(&score, Field::Phase), (4000, 4000));
    assert_eq!(spells(&score), []);
}

#[test]
fn a_state_may_lag_by_a_second_and_no_more() {
    let truth = [(0, Some("ready")), (2000, Some("active"))];
    let in_time = judge(Field::Phase, &truth, &[(0, "ready"), (3000, "active")], 10_000);
    assert_eq!(tally(&in_time, Field::Phase), (10_000, 10_000));
    let late = judge(Field::Phase, &truth, &[(0, "ready"), (3400, "active")], 10_000);
    assert_eq!(tally(&late, Field::Phase), (10_000, 9600));
    assert_eq!(spells(&late), [(3000, 3400, "active", "ready")]);
    let early = judge(Field::Phase, &truth, &[(0, "ready"), (1900, "active")], 10_000);
    assert_eq!(spells(&early), [(1900, 2000, "ready", "active")]);
}

#[test]
fn a_lagging_answer_counts_across_time_that_is_not_judged() {
    let truth = [(0, Some("ready")), (2000, None), (2300, Some("active"))];
    let score = judge(Field::Phase, &truth, &[(0, "ready"), (2800, "active")], 4000);
    assert_eq!(tally(&score, Field::Phase), (3700, 3700));
    let late = judge(Field::Phase, &truth, &[(0, "ready"), (3500, "active")], 4000);
    assert_eq!(spells(&late), [(3000, 3500, "active", "ready")]);
}

#[test]
fn a_truth_that_never_held_excuses_nothing() {
    let score = judge(Field::Phase, &[(0, None), (5000, Some("ready"))], &[(0, "unknown"), (5600, "ready")], 6000);
    assert_eq!(spells(&score), [(5000, 5600, "ready", "unknown")]);
}

#[test]
fn nothing_published_is_wrong() {
    let score = judge(Field::Availability, &[(0, Some("available"))], &[(700, "available")], 1000);
    assert_eq!(spells(&score), [(0, 700, "available", "(nothing)")]);
    assert_eq!(score.tallies[Field::Availability as usize].percent(), Some(30.0));
    assert_eq!(score.tallies[Field::Phase as usize].percent(), None);
}

#[test]
fn a_dialog_is_right_when_it_waits_and_a_menu_when_it_takes_the_keys() {
    let right = |truth, answer| fits(Field::Blocked, truth, answer);
    for truth in ["approval", "trust", "question", "setup"] {
        for answer in ["approval", "trust", "question", "setup", "awaiting", NOT_MODAL] {
            assert!(right(truth, answer), "{truth} {answer}");
        }
        assert!(!right(truth, "menu") && !right(truth, "none") && !right(truth, NOTHING), "{truth}");
    }
    assert!(right("menu", "menu") && right("menu", "approval"));
    assert!(!right("menu", "none") && !right("menu", NOT_MODAL) && !right("menu", NOTHING));
    assert!(right("none", "none") && !right("none", "menu") && !right("none", "approval"));
}

#[test]
fn spells_of_one_mistake_are_one() {
    let truth = [(0, Some("none")), (1500, Some("success"))];
    let score = judge(Field::LastResult, &truth, &[(0, "none")], 9000);
    assert_eq!(spells(&score), [(2500, 9000, "success", "none")]);
}

#[test]
fn the_confusion_of_phases_counts_milliseconds() {
    let truth = [(0, Some("ready")), (2000, Some("active"))];
    let score = judge(Field::Phase, &truth, &[(0, "ready"), (3400, "active"), (4000, "unknown")], 5000);
    let phases: Vec<_> = score.phases.into_iter().collect();
    assert_eq!(
        phases,
        [
            (("active", "active"), 1600),
            (("active", "ready"), 400),
            (("active", "unknown"), 1000),
            (("ready", "ready"), 2000)
        ]
    );
}

#[test]
fn delays_run_from_the_change_of_the_truth_and_leave_the_settle_aside() {
    let delays = |score: Score| -> Vec<Option<u64>> {
        score.delays.iter().map(|delay| delay.delay.map(Span::as_millis)).collect()
    };
    let truth =
        [(0, Some("ready")), (2000, Some("active")), (4000, None), (4500, Some("ready")), (6000, Some("unknown"))];
    let answers = [(0, "ready"), (2300, "active"), (4200, "ready")];
    assert_eq!(delays(judge(Field::Phase, &truth, &answers, 9000)), [Some(300), Some(0), None]);
    let truth = [(0, Some("none")), (2000, Some("success"))];
    assert_eq!(delays(judge(Field::LastResult, &truth, &[(0, "none"), (3250, "success")], 9000)), [Some(250)]);
}

#[test]
fn a_truth_that_cannot_be_is_refused_with_its_line() {
    let text = "{\"version\": 2, \"width\": 9, \"height\": 2}\n[1, \"m\", \"truth {\\\"phase\\\": \\\"busy\\\"}\"]";
    let recording = Recording::parse("hand", text.as_bytes()).unwrap();
    let error = Truth::of(&recording, "hand.cast").unwrap_err().to_string();
    assert_eq!(error, "hand.cast:2: the truth of phase cannot be \"busy\", only null or one of ready, active, unknown");
}

#[test]
fn doubted_labels_are_left_out_and_counted() {
    let text = "{\"version\": 2, \"width\": 9, \"height\": 2}\n\
                [1, \"m\", \"truth {\\\"phase\\\": \\\"ready\\\", \\\"blocked\\\": \\\"none\\\"}\"]\n\
                [3, \"m\", \"truth {\\\"phase\\\": \\\"active\\\"}\"]\n[9, \"o\", \"x\"]";
    let recording = Recording::parse("hand", text.as_bytes()).unwrap();
    let doubts = Doubts::parse("d", "| hand | phase | 2–4.5 | why |\n| hand | phase | 7–7.25 | why |").unwrap();
    let mut truth = Truth::of(&recording, "hand").unwrap();
    assert_eq!(truth.judged_ms(recording.duration()), 16_000);
    doubts.apply("hand", &mut truth);
    assert_eq!(truth.judged_ms(recording.duration()), 13_250);
    let labels: Vec<_> = truth.labels(Field::Phase).iter().map(|l| (l.from.as_millis(), l.value)).collect();
    let active = Some("active");
    assert_eq!(labels, [(1000, Some("ready")), (2000, None), (4500, active), (7000, None), (7250, active)]);
    let profiles = Arc::new(ProfileSet::builtin());
    let score = score(&recording, "hand", profiles, &ReplayOptions::default(), &doubts).unwrap();
    assert_eq!((score.doubted_ms, score.tallies[Field::Phase as usize].judged_ms), (2750, 5250));
}
