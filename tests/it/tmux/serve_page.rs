//! The page of `serve` in a real browser: Chromium, driven through its pipe, on a small agent in a real tmux server.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::serve::Cage;
use crate::support::private_tmux::wait_until;

/// A browser with one page.
struct Browser {
    child: Child,
    to: File,
    from: BufReader<File>,
    session: Option<String>,
    number: u64,
    _home: TempDir,
}

impl Browser {
    fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name).display().to_string();
        assert!(Command::new("mkfifo").args([path("to"), path("from")]).status().unwrap().success());
        // It reads from descriptor 3 and writes to 4. As root it runs without its sandbox only, and opens nothing but our page.
        let run = format!(
            "exec chromium --headless=new --no-sandbox --disable-gpu --remote-debugging-pipe --user-data-dir='{}' 3<'{}' 4>'{}'",
            path("profile"),
            path("to"),
            path("from")
        );
        let child =
            Command::new("bash").args(["-c", &run]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let to = OpenOptions::new().write(true).open(Path::new(&path("to"))).unwrap();
        let from = BufReader::new(File::open(path("from")).unwrap());
        let mut browser = Self { child, to, from, session: None, number: 0, _home: home };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }))["targetId"].clone();
        let session = browser.call("Target.attachToTarget", json!({ "targetId": target, "flatten": true }));
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        browser
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut request = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            request["sessionId"] = session.as_str().into();
        }
        self.to.write_all(format!("{request}\0").as_bytes()).unwrap();
        loop {
            let mut reported = Vec::new();
            assert!(self.from.read_until(0, &mut reported).unwrap() > 0, "the browser ended");
            let reported: Value = serde_json::from_slice(reported.strip_suffix(b"\0").unwrap()).unwrap();
            if reported["id"] == self.number {
                assert!(reported["error"].is_null(), "{method}: {reported}");
                return reported["result"].clone();
            }
        }
    }

    fn open(&mut self, url: &str, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", size);
        self.call("Page.navigate", json!({ "url": url }));
    }

    /// What a script comes to.
    fn says(&mut self, script: &str) -> Value {
        let asked = json!({ "expression": script, "returnByValue": true, "awaitPromise": true, "userGesture": true });
        let reported = self.call("Runtime.evaluate", asked);
        assert!(reported["exceptionDetails"].is_null(), "{script}: {reported}");
        reported["result"]["value"].clone()
    }

    fn wait_for(&mut self, script: &str) {
        wait_until(script, || self.says(script) == true);
    }

    /// Keeps a picture of what is shown, where the environment says so.
    fn picture(&mut self, name: &str) {
        let Some(directory) = std::env::var_os("FLEETWATCH_PICTURES") else { return };
        let reported = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let bytes = BASE64_STANDARD.decode(reported["data"].as_str().unwrap()).unwrap();
        std::fs::write(Path::new(&directory).join(name), bytes).unwrap();
    }

    fn text(&mut self, id: &str) -> String {
        self.says(&format!("document.getElementById('{id}').innerText")).as_str().unwrap().to_owned()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const HAS_ROW: &str = "document.querySelectorAll('#list li').length === 1";
const OPTION: &str = "document.querySelector('#ask .options button')";

#[test]
#[ignore = "needs Chromium"]
fn who_waits_is_seen_answered_and_prompted_in_a_browser() {
    for (width, height) in [(360, 740), (1280, 800)] {
        let cage = Cage::new();
        let token = cage.token("phone", &["--scope", "act"]);
        let server = cage.serve_to(token.clone(), &["--listen", "127.0.0.1:0"]);
        let address = server.address.clone();
        let what = "<img src=x onerror=alert(1)> & <b>rm -rf build</b>";
        cage.ask(what);
        let mut browser = Browser::start();
        browser.open(&format!("http://{address}/#token={token}"), width, height);
        browser.wait_for(HAS_ROW);
        browser.wait_for("document.getElementById('counts').innerText.startsWith('1 needs you')");
        assert_eq!(browser.says("location.hash"), "", "the token is not left in the address");
        let fits = "document.documentElement.scrollWidth <= innerWidth";
        browser.wait_for(fits);
        browser.says("document.querySelector('#list li button').click()");
        browser.wait_for("!document.getElementById('ask').hidden");
        let asked = browser.text("ask");
        assert!(asked.contains(&format!("Allow {what}?")) && asked.contains("2. No"), "{asked}");
        assert_eq!(browser.says("document.querySelectorAll('#one img, #list img, pre b').length"), 0, "text is text");
        browser.wait_for(fits);
        // The first tap says what the second one does; both at once are one.
        browser.wait_for(&format!("{OPTION}.click(), {OPTION}.classList.contains('armed')"));
        assert!(browser.text("outcome").contains("1. Yes"), "{}", browser.text("outcome"));
        assert_eq!(cage.tmux.screen("main:").matches("● answered").count(), 0);
        browser.wait_for(&format!(
            "({OPTION} || document.body).click(), document.getElementById('outcome').innerText.startsWith('Accepted')"
        ));
        cage.tmux.wait_for_text("main:", "● answered 1");
        browser.wait_for("!document.getElementById('prompt').hidden");
        browser
            .says("document.getElementById('text').value = 'hello'; document.querySelector('#prompt .main').click()");
        cage.tmux.wait_for_text("main:", "● heard hello");
        browser.wait_for("document.getElementById('screen').innerText.includes('● heard hello')");
        browser
            .wait_for("document.getElementById('line').innerText.includes('token phone at 127.0.0.1 answered main')");
        // Without a server it says how old all is, and with one it goes on.
        drop(server);
        browser.wait_for("document.getElementById('link').innerText.startsWith('no connection')");
        let _server = cage.serve_to(token, &["--listen", &address]);
        cage.ask("two");
        browser.wait_for("document.getElementById('ask').innerText.includes('Allow two?')");
        browser.wait_for("document.getElementById('link').innerText.startsWith('live')");
    }
}

/// How many rows the command has that is read to its end.
const ROWS: u32 = 40;

#[test]
#[ignore = "needs Chromium"]
fn a_command_of_forty_rows_is_read_to_its_end_and_approved_in_a_browser() {
    let cage = Cage::with(&include_str!("../support/parrot.toml").replace("last = 6", "last = 60"));
    cage.tmux.run(&["resize-window", "-t", "main:", "-x", "100", "-y", "60"]);
    let token = cage.token("phone", &["--scope", "act"]);
    let server = cage.serve_to(token.clone(), &["--listen", "127.0.0.1:0"]);
    cage.tmux.run(&["send-keys", "-t", "main:", &format!("long {ROWS}"), "Enter"]);
    cage.tmux.wait_for_text("main:", "2. No");
    let mut browser = Browser::start();
    browser.open(&format!("http://{}/#token={token}", server.address), 360, 740);
    browser.wait_for(HAS_ROW);
    browser.says("document.querySelector('#list li button').click()");
    browser.wait_for("!document.getElementById('ask').hidden");
    browser.wait_for(&format!("!!{OPTION}"));
    let asked = browser.text("ask");
    let missing: Vec<u32> = (1..=ROWS).filter(|row| !asked.contains(&format!("row {row} of the command"))).collect();
    assert!(missing.is_empty(), "{missing:?} of {asked}");
    browser.picture("page-phone-long-begin.png");
    // Whoever scrolls with a thumb gets past the last row to the options, and the page is no wider for it.
    browser.says(&format!("{OPTION}.scrollIntoView({{ block: 'end' }})"));
    let is_seen = |of: &str| {
        format!(
            "(() => {{ const box = {of}.getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight; }})()"
        )
    };
    browser.wait_for(&is_seen(OPTION));
    browser.wait_for("document.documentElement.scrollWidth <= innerWidth");
    browser.picture("page-phone-long-end.png");
    browser.wait_for(&format!("{OPTION}.click(), {OPTION}.classList.contains('armed')"));
    browser.wait_for(&format!(
        "({OPTION} || document.body).click(), document.getElementById('outcome').innerText.startsWith('Accepted')"
    ));
    cage.tmux.wait_for_text("main:", "● answered 1");
}
