use proptest::prelude::*;

use super::*;

const NONCE: &str = "0123456789abcdef";

fn row(kind: char, numbers: &str, texts: [&str; 7], tail: &str) -> String {
    format!("{NONCE}{kind}{numbers}{NONCE}{}{NONCE}{tail}", texts.join(NONCE))
}

fn output(records: &str) -> String {
    format!("{NONCE}H4211,1795234813,3.3a{NONCE}\n{records}{NONCE}E{NONCE}\n")
}

fn read(text: &str) -> Result<Listing, Error> {
    Listing::parse(text, NONCE)
}

const NUMBERS: &str = "%12,4300,$1,@3,2,0,1,4,1795234800,80,24,5,6,1,0,0,,,1,900,0,0,0";

#[test]
fn a_row_is_read_with_whatever_its_texts_hold() {
    let title = "a\tb\nc,\u{1b}]52;x\u{7}\u{202e}d";
    let look = read(&output(&row(
        'P',
        NUMBERS,
        ["work", "vim", title, "node", "/tmp/a\nb", "5,1700,,1,on,,=12@box,", "env -- make"],
        "\n",
    )))
    .unwrap();
    assert_eq!((look.version.as_str(), look.server_pid, look.clock), ("3.3a", 4211, 1_795_234_813));
    let [pane] = &look.panes[..] else { panic!("one pane, not {:?}", look.panes) };
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
    let look = read(&output(&row('C', NUMBERS, ["s", "w", "t", "c", "/", "", ""], "\nabove\n\nsecond\n\n"))).unwrap();
    let screen = look.captures[0].screen.as_ref().unwrap();
    assert_eq!(screen.rows()[0].text(), "");
    assert_eq!(screen.rows()[1].text(), "second");
    assert_eq!(screen.rows().len(), 24);
}

#[test]
fn what_tmux_says_of_a_dead_pane_is_not_its_output() {
    let shown = |dead: &str, alternate: &str, history: &str, rows: &str| {
        let numbers = format!("%12,43,$1,@3,2,0,1,4,17,80,3,0,2,1,{alternate},{dead},3,,0,{history},0,0,0");
        let look = read(&output(&row('C', &numbers, [""; 7], &format!("\n{rows}")))).unwrap();
        let screen = look.captures[0].screen.clone().unwrap();
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
    let look = read(&output(&row('C', NUMBERS, ["s", "w", "t", "c", "/", "", ""], "\n"))).unwrap();
    assert_eq!(look.captures[0].screen, None);
}

#[test]
fn exit_codes_are_those_of_a_shell() {
    let exit = |fields: &str| {
        let numbers = format!("%1,1,$1,@1,0,0,1,1,0,80,24,0,0,1,0,{fields},0,0,0,0,0");
        read(&output(&row('P', &numbers, [""; 7], "\n"))).unwrap().panes[0].facts.exit_status
    };
    assert_eq!(exit("1,3,"), Some(3));
    assert_eq!(exit("1,0,0"), Some(0));
    assert_eq!(exit("1,,9"), Some(137));
    assert_eq!(exit("1,,TERM"), Some(143));
    assert_eq!(exit("1,,"), None);
    assert_eq!(exit("0,,"), None);
}

#[test]
fn half_an_answer_is_no_answer() {
    let whole = output(&row('P', NUMBERS, ["work", "vim", "t", "node", "/", "", ""], "\n"));
    let end = whole.rfind(&format!("{NONCE}E")).unwrap();
    for cut in 0..=end {
        if whole.is_char_boundary(cut) {
            assert!(read(&whole[..cut]).is_err(), "cut at {cut}");
        }
    }
    assert!(read(&whole).is_ok());
}

#[test]
fn an_old_tmux_is_named() {
    let old = format!("{NONCE}H1,2,3.1c{NONCE}\n{NONCE}E{NONCE}\n");
    assert!(matches!(read(&old), Err(Error::TooOld { found, .. }) if found == "3.1c"));
}

proptest! {
    #[test]
    fn nothing_that_is_printed_makes_it_panic(text in ".{0,200}", numbers in "[0-9,%$@-]{0,60}") {
        let _ = read(&text);
        let _ = read(&output(&text));
        let _ = read(&output(&row('C', &numbers, [&text; 7], &text)));
    }
}
