//! The HTML report in a real browser: `just browser-test`.
//!
//! Chromium is driven over the pipe that it offers for that, one JSON message after the other, each ended by
//! a zero byte. The screenshots are left in `target/tmp`, for people.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// What a browser may take for one step on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

struct Browser {
    process: Child,
    input: ChildStdin,
    output: Receiver<Value>,
    session: Option<String>,
    messages: u64,
    /// What no report may cause: messages on the console, exceptions, requests to anywhere.
    complaints: Vec<String>,
    _profile: tempfile::TempDir,
}

impl Browser {
    fn start() -> Self {
        let program = std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".to_owned());
        let profile = tempfile::tempdir().unwrap();
        // It reads commands from descriptor 3 and answers on 4.
        let mut process = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#, &program])
            .args(["--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--hide-scrollbars"])
            .args(["--disable-gpu", "--no-first-run", "--disable-background-networking"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, answers) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (sender, output) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(answers).split(0) {
                let message = serde_json::from_slice(&message.unwrap()).unwrap();
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            process,
            input,
            output,
            session: None,
            messages: 0,
            complaints: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        browser.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    #[track_caller]
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.messages += 1;
        let id = self.messages;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = session.clone().into();
        }
        write!(self.input, "{message}\0").expect("the browser runs; is Chromium installed?");
        self.input.flush().unwrap();
        let mut answer = self.read_until(|message| message["id"] == id);
        assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
        answer["result"].take()
    }

    #[track_caller]
    fn read_until(&mut self, found: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message =
                self.output.recv_timeout(PATIENCE).expect("the browser answers; is Chromium installed?");
            let parameters = &message["params"];
            let complaint = match message["method"].as_str() {
                Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded") => true,
                Some("Network.requestWillBeSent") => {
                    let url = parameters["request"]["url"].as_str().unwrap_or_default();
                    !url.starts_with("file:") && !url.starts_with("data:")
                }
                _ => false,
            };
            if complaint {
                self.complaints.push(message.to_string());
            }
            if found(&message) {
                return message;
            }
        }
    }

    fn open(&mut self, page: &Path, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", size);
        self.call("Page.navigate", json!({"url": format!("file://{}", page.display())}));
        self.read_until(|message| message["method"] == "Page.loadEventFired");
    }

    /// The value of an expression in the page.
    #[track_caller]
    fn ask(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "returnByValue": true});
        let mut answer = self.call("Runtime.evaluate", parameters);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].take()
    }

    fn press_enter(&mut self) {
        for kind in ["keyDown", "keyUp"] {
            let key = json!({"type": kind, "key": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"});
            self.call("Input.dispatchKeyEvent", key);
        }
        // Two frames: by then the page has gone where the link leads, and is drawn.
        let frames = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))";
        self.call("Runtime.evaluate", json!({"expression": frames, "awaitPromise": true}));
    }

    fn screenshot(&mut self, name: &str) {
        let taken = self.call("Page.captureScreenshot", json!({"format": "png"}));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&path, base64(taken["data"].as_str().unwrap())).unwrap();
        eprintln!("{}", path.display());
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It ends its own children; killed, it would leave them to find out.
        self.session = None;
        let closed = write!(self.input, "{}\0", json!({"id": 0, "method": "Browser.close"}));
        if closed.is_err() {
            let _ = self.process.kill();
        }
        let _ = self.process.wait();
    }
}

fn base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u32> =
        text.bytes().filter(|byte| *byte != b'=').map(|byte| u32::from(value(byte))).collect();
    let mut bytes = Vec::new();
    for four in digits.chunks(4) {
        let number = four.iter().fold(0, |number, digit| number << 6 | digit) << (6 * (4 - four.len()));
        bytes.extend_from_slice(&number.to_be_bytes()[1..four.len()]);
    }
    bytes
}

/// Three clients that show something, and so many others that the matrix is wider than any screen.
fn report_of_many_clients(directory: &Path) -> std::path::PathBuf {
    for number in 10..50 {
        let name = format!("does-nothing-at-all-{number}");
        let adapter =
            format!("name = {name:?}\ntitle = \"a test\"\ncommand = [\"sh\", \"-c\", \"exit 77\"]\n");
        std::fs::write(directory.join(format!("{name}.toml")), adapter).unwrap();
    }
    let page = directory.join("report.html");
    let run = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(["run", "--built-in", "perfect", "--built-in", "eager", "--built-in", "never_retries"])
        .args(["--adapter", "all", "--adapters", directory.to_str().unwrap()])
        .args(["--case", "retry-503", "--case", "seconds-*", "--case", "overflow-4294968"])
        .args(["--jobs", "100", "--html", page.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1), "{}", String::from_utf8_lossy(&run.stderr));
    page
}

#[test]
#[ignore = "needs Chromium: just browser-test"]
fn the_report_is_legible_in_a_browser_wide_and_narrow() {
    let directory = tempfile::tempdir().unwrap();
    let page = match std::env::var_os("CONFORMANCE_REPORT") {
        Some(page) => Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page).canonicalize().unwrap(),
        None => report_of_many_clients(directory.path()),
    };
    let mut browser = Browser::start();
    for (width, height) in [(1280, 900), (400, 800)] {
        browser.open(&page, width, height);
        // Not `innerWidth`: a small screen shows a page that is too wide from further away.
        let no_wider = format!("document.documentElement.scrollWidth <= {width}");
        assert_eq!(browser.ask(&no_wider), true, "at {width} the page scrolls sideways");
        let visible = r#"(() => {
            document.querySelector('#matrix').scrollIntoView();
            const cell = document.querySelector('table.matrix td a').getBoundingClientRect();
            return cell.width >= 24 && cell.height >= 24 && cell.left >= 0 && cell.right <= innerWidth && cell.bottom <= innerHeight;
        })()"#;
        let visible = browser.ask(visible);
        browser.screenshot(&format!("report-matrix-{width}.png"));
        assert_eq!(visible, true, "at {width} the matrix can be seen");

        assert_eq!(browser.ask("document.querySelectorAll('article:target').length"), 0);
        browser.ask("document.querySelector('table.matrix td.fail a').focus()");
        browser.press_enter();
        let open = r#"(() => {
            const article = document.querySelector('article:target').getBoundingClientRect();
            const picture = document.querySelector('article:target svg').getBoundingClientRect();
            const letters = picture.width / document.querySelector('article:target svg').viewBox.baseVal.width * 10;
            return article.left >= 0 && article.right <= innerWidth && picture.top >= 0 && picture.bottom <= innerHeight
                && picture.right <= innerWidth && letters >= 9;
        })()"#;
        let open = browser.ask(open);
        browser.screenshot(&format!("report-timeline-{width}.png"));
        assert_eq!(open, true, "at {width} the timeline can be seen");
        let words = browser.ask("document.querySelector('article:target').innerText");
        assert!(words.as_str().unwrap().contains("after the refusal; it was asked to wait"), "{words}");
        assert!(words.as_str().unwrap().contains("Retry-After: "), "the raw heads: {words}");
        assert_eq!(browser.ask(&no_wider), true, "at {width} the page scrolls sideways");

        browser.ask("document.querySelector('article:target .close').focus()");
        browser.press_enter();
        assert_eq!(browser.ask("document.querySelectorAll('article:target').length"), 0);
        assert_eq!(
            browser.ask("document.querySelector(':target').matches('td a')"),
            true,
            "back in its cell"
        );
    }
    assert_eq!(browser.complaints, Vec::<String>::new());
}
