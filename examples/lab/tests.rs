use super::*;

const TRUTH: &str = r#"{"version": 2, "width": 20, "height": 3, "command": "claude", "tags": ["claude", "9.9", "idle"]}
[0, "m", "truth {\"availability\": \"unavailable\", \"phase\": \"ready\"}"]
[0, "o", "x"]
[10, "o", "y"]
"#;

fn written(directory: &Path) {
    std::fs::create_dir_all(directory.join("deep/er")).unwrap();
    std::fs::write(directory.join("deep/er/one.cast"), TRUTH).unwrap();
    std::fs::write(directory.join("two.cast"), TRUTH).unwrap();
    std::fs::write(directory.join("notes.txt"), "no recording").unwrap();
}

#[test]
fn directories_are_searched_and_files_taken_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    written(directory.path());
    let names = |paths: &[PathBuf]| -> Vec<String> {
        let found = find(paths).unwrap();
        let inside = |name: String| Path::new(&name).strip_prefix(directory.path()).unwrap().display().to_string();
        found.iter().map(|source| inside(source.name())).collect()
    };
    assert_eq!(names(&[directory.path().to_owned()]), ["deep/er/one.cast", "two.cast"]);
    assert_eq!(
        names(&[directory.path().join("notes.txt"), directory.path().join("deep")]),
        ["deep/er/one.cast", "notes.txt"]
    );
    let recordings = BTreeMap::from([("claude-9.9/idle".to_owned(), TRUTH.as_bytes().to_vec())]);
    std::fs::write(directory.path().join("some.zst"), Archive::pack(&recordings).unwrap()).unwrap();
    assert_eq!(names(&[directory.path().join("some.zst")]), ["some.zst:claude-9.9/idle"]);
    let empty = tempfile::tempdir().unwrap();
    assert!(find(&[empty.path().to_owned()]).is_err());
}

#[test]
fn scores_add_up_by_version_and_name_what_is_low() {
    let directory = tempfile::tempdir().unwrap();
    written(directory.path());
    let files = find(&[directory.path().to_owned()]).unwrap();
    let scored =
        score_all(&files, &Arc::new(ProfileSet::builtin()), &ReplayOptions::default(), &Doubts::default()).unwrap();
    let report = Report::new(scored, &[Field::Availability]);
    let versions = report.versions();
    let (count, time, tallies) = versions["claude 9.9"];
    assert_eq!((versions.len(), count, time.as_millis()), (1, 2, 20_000));
    // A pane that is listed is never unavailable, whatever the profiles make of its screen.
    assert_eq!((tallies[0].judged_ms, tallies[0].right_ms), (20_000, 0));
    let wrong = report.wrong();
    assert_eq!(wrong.len(), 2);
    assert_eq!((wrong[0].1.truth, wrong[0].1.from.as_millis(), wrong[0].1.to.as_millis()), ("unavailable", 0, 10_000));
    assert!(wrong[0].0.path.ends_with("one.cast"));
    assert_eq!(report.below(99.0)[0], "claude 9.9 availability scores 0.000 %");
    let text = for_people(&report, 5, true);
    assert!(text.contains("claude 9.9/two"), "{text}");
    let json = report.json(1);
    assert_eq!(json["versions"]["claude 9.9"]["fields"]["availability"]["judged_seconds"], 20.0);
    assert_eq!(json["worst"].as_array().unwrap().len(), 1);
}

#[test]
fn one_broken_recording_is_an_error_with_its_place() {
    let directory = tempfile::tempdir().unwrap();
    written(directory.path());
    std::fs::write(directory.path().join("bad.cast"), "{").unwrap();
    let files = find(&[directory.path().to_owned()]).unwrap();
    let error = score_all(&files, &Arc::new(ProfileSet::builtin()), &ReplayOptions::default(), &Doubts::default())
        .unwrap_err()
        .to_string();
    assert!(error.contains("bad.cast:1: "), "{error}");
}

fn report_on(text: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("one.cast"), text).unwrap();
    let files = find(&[directory.path().to_owned()]).unwrap();
    let scored =
        score_all(&files, &Arc::new(ProfileSet::builtin()), &ReplayOptions::default(), &Doubts::default()).unwrap();
    for_people(&Report::new(scored, &[]), 5, true)
}

#[test]
fn a_header_reaches_the_terminal_without_its_control_characters() {
    let text = report_on(&TRUTH.replace("9.9", "9\\u001b]52;c;QUFB\\u0007"));
    assert!(text.contains("claude 9]52;c;QUFB"), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
}

#[test]
fn a_year_of_a_silent_shell_is_scored_at_once() {
    let shell = r#"{"version": 2, "width": 20, "height": 3, "command": "shell", "tags": ["shell", "1", "quiet"]}
[1, "m", "truth {\"task\": \"running\"}"]
[1, "o", "x"]
[31000000, "o", "y"]
"#;
    let text = report_on(shell);
    assert!(text.contains("TASKS IN 1 RECORDINGS   task 100.00"), "{text}");
}
