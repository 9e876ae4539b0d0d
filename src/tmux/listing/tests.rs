use proptest::prelude::*;

use super::known::{ALL_AGAIN, FOLLOWS, WHOLE_AGAIN};
use super::*;

const NONCE: &str = "0123456789abcdef";

fn row(kind: char, numbers: &str, texts: [&str; 8], tail: &str) -> String {
    format!("{NONCE}{kind}{numbers}{NONCE}{}{NONCE}{tail}", texts.join(NONCE))
}

fn output(records: &str) -> String {
    format!("{NONCE}H4211,1795234813,3.3a{NONCE}\n{records}{NONCE}E{NONCE}\n")
}

fn read(text: &str) -> Result<Listing, Error> {
    Listing::parse(text, NONCE)
}

const NUMBERS: &str = "%12,4300,$1,@3,2,0,1,4,1795234800,80,24,5,6,1,0,0,,,,1,900,0,0,0";

#[test]
fn a_row_is_read_with_whatever_its_texts_hold() {
    let title = "a\tb\nc,\u{1b}]52;x\u{7}\u{202e}d";
    let listing = read(&output(&row(
        'P',
        NUMBERS,
        ["work", "vim", title, "node", "/tmp/a\nb", "5,1700,,1,on,,=12@box,", "env -- make", ""],
        "\n",
    )))
    .unwrap();
    assert_eq!((listing.version.as_str(), listing.server_pid, listing.clock), ("3.3a", 4211, 1_795_234_813));
    let [pane] = &listing.panes[..] else { panic!("one pane, not {:?}", listing.panes) };
    assert_eq!((pane.id, pane.pid, pane.session_id, pane.window_id), (PaneId(12), 4300, 1, 3));
    assert_eq!(pane.place.target(), "work:2.0");
    assert_eq!(pane.facts.title, "abc,]52;xd");
    assert_eq!(pane.cwd.as_deref(), Some("/tmp/ab"));
    assert_eq!(pane.facts.cursor, Cursor { column: 5, row: 6, visible: true });
    assert!(pane.facts.bell && !pane.facts.dead && !pane.facts.in_mode);
    assert_eq!(pane.facts.exit_status, None);
    let marks = Marks {
        bells: Some(5),
        run_at: Some(1700),
        task_session: true,
        remains: true,
        watchers: vec!["12@box".to_owned()],
        ..Marks::default()
    };
    assert_eq!(pane.marks, marks);
    assert_eq!(pane.start_command.as_deref(), Some("make"));
    assert_eq!(start_command("\"make -j8 all\"").as_deref(), Some("make -j8 all"));
    assert_eq!((start_command("a \"b c\"").as_deref(), start_command("")), (Some("a \"b c\""), None));
}

#[test]
fn marks_that_fleetwatch_would_not_write_are_none() {
    assert_eq!(Marks::read(""), Marks::default());
    assert_eq!(Marks::read("-1,x,,yes,failed,,#{x},=$(y)@z,= 7@b,"), Marks { watchers: vec![], ..Marks::default() });
}

#[test]
fn a_capture_keeps_its_first_row_even_when_that_is_blank() {
    // The scrollback's last row comes first.
    let listing =
        read(&output(&row('C', NUMBERS, ["s", "w", "t", "c", "/", "", "", ""], "\nabove\n\nsecond\n\n"))).unwrap();
    let screen = listing.captures[0].screen.as_ref().unwrap();
    assert_eq!(screen.rows()[0].text(), "");
    assert_eq!(screen.rows()[1].text(), "second");
    assert_eq!(screen.rows().len(), 24);
}

#[test]
fn what_tmux_says_of_a_dead_pane_is_not_its_output() {
    let shown = |dead: &str, alternate: &str, history: &str, rows: &str| {
        let numbers = format!("%12,43,$1,@3,2,0,1,4,17,80,3,0,2,1,{alternate},{dead},3,,,0,{history},0,0,0");
        let listing = read(&output(&row('C', &numbers, [""; 8], &format!("\n{rows}")))).unwrap();
        let screen = listing.captures[0].screen.clone().unwrap();
        screen.rows().iter().map(|row| row.text().to_owned()).collect::<Vec<_>>().join("|")
    };
    let notice = "Pane is dead (status 3, Sat Nov 21 11:48:14 2026)";
    assert_eq!(shown("1", "0", "1", &format!("first\nsecond\n\n{notice}\n")), "first|second|");
    assert_eq!(shown("1", "0", "0", &format!("second\n\n{notice}\n")), "second||");
    assert_eq!(shown("1", "1", "9", &format!("of the shell\nsecond\n\n{notice}\n")), "second||");
    // Not yet written, by another format of the user's, or of a program that lives.
    assert_eq!(shown("1", "0", "1", "above\nfirst\nsecond\nthird\n"), "first|second|third");
    assert_eq!(shown("0", "0", "1", &format!("above\n\n\n{notice}\n")), format!("||{notice}"));
}

#[test]
fn a_capture_that_printed_nothing_has_no_screen() {
    let listing = read(&output(&row('C', NUMBERS, ["s", "w", "t", "c", "/", "", "", ""], "\n"))).unwrap();
    assert_eq!(listing.captures[0].screen, None);
}

#[test]
fn exit_codes_are_those_of_a_shell() {
    let exit = |fields: &str| {
        let numbers = format!("%1,1,$1,@1,0,0,1,1,0,80,24,0,0,1,0,{fields},,0,0,0,0,0");
        read(&output(&row('P', &numbers, [""; 8], "\n"))).unwrap().panes[0].facts.exit_status
    };
    assert_eq!(exit("1,3,"), Some(3));
    assert_eq!(exit("1,0,0"), Some(0));
    assert_eq!(exit("1,,9"), Some(137));
    assert_eq!(exit("1,,TERM"), Some(143));
    assert_eq!(exit("1,,"), None);
    assert_eq!(exit("0,,"), None);
}

#[test]
fn a_tmux_that_knows_it_tells_when_a_program_ended() {
    let died = |dead: &str, at: &str| {
        let numbers = format!("%1,1,$1,@1,0,0,1,1,0,80,24,0,0,1,0,{dead},0,,{at},0,0,0,0,0");
        read(&output(&row('P', &numbers, [""; 8], "\n"))).unwrap().panes[0].died
    };
    assert_eq!(died("1", "1795234700"), Some(1_795_234_700));
    assert_eq!((died("1", ""), died("0", "1795234700")), (None, None));
}

#[test]
fn half_an_answer_is_no_answer() {
    let whole = output(&row('P', NUMBERS, ["work", "vim", "t", "node", "/", "", "", ""], "\n"));
    let end = whole.rfind(&format!("{NONCE}E")).unwrap();
    for cut in 0..=end {
        if whole.is_char_boundary(cut) {
            assert!(read(&whole[..cut]).is_err(), "cut at {cut}");
        }
    }
    assert!(read(&whole).is_ok());
}

#[test]
fn sessions_without_panes_are_no_empty_server() {
    let session = format!("{NONCE}W$1,1{NONCE}work{NONCE}{NONCE}\n");
    let error = read(&output(&session)).unwrap_err();
    assert!(error.hint().contains("command-alias"), "{error}: {}", error.hint());
}

#[test]
fn an_old_tmux_is_named() {
    let old = format!("{NONCE}H1,2,3.1c{NONCE}\n{NONCE}E{NONCE}\n");
    assert!(matches!(read(&old), Err(Error::TooOld { found, .. }) if found == "3.1c"));
}

#[test]
fn a_brief_row_is_completed_by_the_last_one() {
    let mut known = KnownRows::default();
    assert_eq!(known.extent(), Extent::Whole);
    let whole = read(&output(&row('P', NUMBERS, ["work", "vim", "t", "node", "/", "", "", ""], "\n"))).unwrap();
    known.learn(&whole, Extent::Whole);
    let since = whole.clock - FOLLOWS;
    assert_eq!(known.extent(), Extent::Telling(since));

    let brief = |numbers: &str| format!("{NONCE}B{numbers}{NONCE}\n");
    let again = |records: &str, known: &KnownRows| {
        super::parse(&output(records), NONCE, known, Some(Extent::All(since))).unwrap()
    };
    let same = again(&brief("%12,4300,$1,2,1795234800,80,24,1,0"), &known);
    assert_eq!((same.panes.as_slice(), same.is_incomplete), (whole.panes.as_slice(), false));
    let other = again(&brief("%12,4300,$1,2,1795234812,90,20,0,1"), &known);
    let [pane] = &other.panes[..] else { panic!("one pane") };
    assert_eq!((pane.activity, pane.columns, pane.rows), (1_795_234_812, 90, 20));
    assert!(!pane.facts.bell && pane.facts.in_mode && pane.facts.title == "t");
    // A window that came or went is counted with the sessions, for pane by pane tmux would count them again.
    let beside = format!("{NONCE}W$1,3{NONCE}work{NONCE}{NONCE}\n");
    let windows = |listing: &Listing| listing.panes[0].place.session_windows;
    assert_eq!(windows(&again(&(beside.clone() + &brief("%12,4300,$1,2,1795234800,80,24,1,0")), &known)), 3);
    let uncounted = NUMBERS.replace(",1,4,1795234800", ",1,,1795234800");
    assert_eq!(windows(&read(&output(&(beside + &row('P', &uncounted, [""; 8], "\n")))).unwrap()), 3);
    // Another pane, another process, another session, another place in it.
    for numbers in ["%13,4300,$1,2", "%12,4301,$1,2", "%12,4300,$2,2", "%12,4300,$1,3"] {
        let unknown = again(&brief(&format!("{numbers},1795234800,80,24,1,0")), &known);
        assert!(unknown.is_incomplete && unknown.panes.is_empty(), "{numbers}");
    }
    // What a capture says is newer than the listing before it.
    let screen = format!("{NONCE}S%12,4300,1795234813,80,24,7,8,1,1,0,,,,0,900,0{NONCE}u{NONCE}\nabove\nrow\n");
    let captured = again(&(brief("%12,4300,$1,2,1795234813,80,24,0,0") + &screen), &known);
    known.learn(&captured, Extent::All(since));
    let [capture] = &captured.captures[..] else { panic!("one capture") };
    assert_eq!((capture.pane.facts.title.as_str(), capture.pane.facts.command.as_str()), ("u", "node"));
    assert_eq!(capture.screen.as_ref().unwrap().rows()[0].text(), "row");
    let after = again(&brief("%12,4300,$1,2,1795234813,80,24,0,0"), &known);
    assert_eq!(after.panes[0], capture.pane);
    // Without a listing, the panes are those of the last one.
    assert_eq!(again(&screen, &known).captures, captured.captures);
    // A server that was started anew has other panes by the same numbers.
    known.instance = ServerInstance::new("1.2");
    assert!(again(&brief("%12,4300,$1,2,1795234813,80,24,0,0"), &known).is_incomplete);
    known.clock += ALL_AGAIN;
    assert_eq!(known.extent(), Extent::All(since + ALL_AGAIN));
    known.clock += WHOLE_AGAIN - ALL_AGAIN;
    assert_eq!(known.extent(), Extent::Whole);
}

#[test]
fn what_is_not_listed_is_as_it_was() {
    let texts = ["work", "vim", "t", "node", "/", "", "", ""];
    let other = NUMBERS.replace("%12", "%13");
    // One rings, the other one is in a mode.
    let moded = other.replace(",1,900,0,0,0", ",0,900,1,0,0");
    let two = |first: &str, second: &str| row('P', first, texts, "\n") + &row('P', second, texts, "\n");
    let windows = |count: u32| format!("{NONCE}W$1,{count}{NONCE}work{NONCE}{NONCE}\n");
    let mut known = KnownRows::default();
    let whole = read(&output(&(windows(2) + &two(NUMBERS, &moded)))).unwrap();
    assert!(whole.panes[0].facts.bell && whole.panes[1].facts.in_mode);
    known.learn(&whole, Extent::Whole);
    let telling = Extent::Telling(whole.clock - FOLLOWS);
    let listing = |records: &str| super::parse(&output(records), NONCE, &known, Some(telling)).unwrap();
    let mark = format!("{NONCE}M13{NONCE}\nabove\nrow\n");
    let again = listing(&(windows(2) + &row('P', NUMBERS, texts, "\n") + &mark));
    assert_eq!((again.is_incomplete, again.panes.len()), (false, 2));
    assert_eq!(again.panes[0], whole.panes[0], "it is reported");
    let calm = PaneFacts { in_mode: false, ..whole.panes[1].facts.clone() };
    assert_eq!(again.panes[1].facts, calm, "it would have been reported if it still were in a mode");
    assert_eq!(again.captures[0].pane, again.panes[1]);
    // One that was dead runs another program now.
    let mut with_dead = KnownRows::default();
    let dead = read(&output(&(windows(2) + &two(NUMBERS, &other.replace("6,1,0,0,,,,1", "6,1,0,1,2,,,0"))))).unwrap();
    assert!(dead.panes[1].facts.dead);
    with_dead.learn(&dead, Extent::Whole);
    let records = output(&(windows(2) + &row('P', NUMBERS, texts, "\n")));
    assert!(super::parse(&records, NONCE, &with_dead, Some(telling)).unwrap().is_incomplete);
    // A window more, and a pane that is new.
    assert!(listing(&windows(3)).is_incomplete);
    assert!(listing(&(windows(2) + &row('P', &NUMBERS.replace("%12", "%14"), texts, "\n"))).is_incomplete);
}

#[test]
fn a_screen_behind_a_mark_has_the_facts_of_the_listing_in_the_same_call() {
    let rows = row('P', NUMBERS, ["work", "vim", "t", "node", "/", "", "", ""], "\n");
    let mark = |pane: u32| format!("{NONCE}M{pane}{NONCE}\nabove\nrow\n");
    let listing = read(&output(&(rows + &mark(12) + &mark(13)))).unwrap();
    let [capture] = &listing.captures[..] else { panic!("a pane that is gone was not listed") };
    assert_eq!(capture.pane, listing.panes[0]);
    assert_eq!(capture.screen.as_ref().unwrap().rows()[0].text(), "row");
    for numbers in ["", "x", "12,1"] {
        assert!(read(&output(&format!("{NONCE}M{numbers}{NONCE}\nrow\n"))).is_err(), "{numbers:?}");
    }
}

#[test]
fn commas_within_a_part_of_a_condition_stay_commas() {
    assert_eq!(escape_commas("#{a},#{?#{==:#{b},c},,d},e"), "#{a}#,#{?#{==:#{b},c},,d}#,e");
}

proptest! {
    #[test]
    fn nothing_that_is_printed_makes_it_panic(text in ".{0,200}", numbers in "[0-9,%$@-]{0,60}") {
        let _ = read(&text);
        let _ = read(&output(&text));
        let _ = read(&output(&format!("{NONCE}B{numbers}{NONCE}")));
        let _ = read(&output(&format!("{NONCE}W{numbers}{NONCE}{text}{NONCE}{text}{NONCE}")));
        let _ = read(&output(&format!("{NONCE}S{numbers}{NONCE}{text}{NONCE}{text}")));
        let _ = read(&output(&format!("{NONCE}M{numbers}{NONCE}{text}")));
        let _ = read(&output(&row('C', &numbers, [&text; 8], &text)));
    }
}
