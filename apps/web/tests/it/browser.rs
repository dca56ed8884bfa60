//! A real Chromium, driven by its `DevTools` protocol.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tungstenite::{Message, WebSocket};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(30);
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

pub(crate) struct Browser {
    child: Child,
    socket: WebSocket<TcpStream>,
    next: u64,
    events: Vec<Value>,
    _profile: TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Browser {
    /// One with a profile of its own; none where no Chromium is installed.
    pub(crate) fn start() -> Option<Self> {
        let name = NAMES.into_iter().find(|name| {
            let found = Command::new(name)
                .arg("--version")
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            found.is_ok_and(|status| status.success())
        })?;
        let profile = tempfile::tempdir().unwrap();
        let mut child = Command::new(name)
            .args(["--headless", "--disable-gpu", "--remote-debugging-port=0", "--no-first-run"])
            // Who tests as root has no sandbox to offer.
            .args(["--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines
            .find_map(|line| Some(line.ok()?.split_once("ws://")?.1.to_owned()))
            .expect("the browser says where it listens");
        // Who does not read what a browser prints stops it.
        std::thread::spawn(move || lines.for_each(drop));
        let host = address.split('/').next().unwrap().to_owned();
        let page = pages(&host).into_iter().find(|own| own["type"] == "page").unwrap();
        let url = page["webSocketDebuggerUrl"].as_str().unwrap().to_owned();
        let stream = TcpStream::connect(&host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = tungstenite::client(url, stream).unwrap();
        let mut own = Self { child, socket, next: 0, events: Vec::new(), _profile: profile };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            own.call(&format!("{domain}.enable"), json!({}));
        }
        own.call("Emulation.setFocusEmulationEnabled", json!({"enabled": true}));
        own.size(1_200, 900);
        Some(own)
    }

    /// Calls a method, and waits for its answer.
    pub(crate) fn call(&mut self, method: &str, params: impl Into<Value>) -> Value {
        let params: Value = params.into();
        self.next += 1;
        let id = self.next;
        let call = json!({"id": id, "method": method, "params": params}).to_string();
        self.socket.send(Message::text(call)).unwrap();
        loop {
            let told = self.read();
            if told["id"] == id {
                assert!(told.get("error").is_none(), "{method}: {told}");
                return told["result"].clone();
            }
            self.events.push(told);
        }
    }

    fn read(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.socket.read().unwrap() {
                return serde_json::from_str(text.as_str()).unwrap();
            }
        }
    }

    /// Waits for an event that comes after now.
    fn wait_for(&mut self, method: &str) {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let told = self.read();
            let is_it = told["method"] == method;
            self.events.push(told);
            if is_it {
                return;
            }
        }
        panic!("no {method}");
    }

    /// Opens an address, and waits until it is there.
    pub(crate) fn open(&mut self, url: &str) {
        self.call("Page.navigate", json!({"url": url}));
        self.wait_for("Page.loadEventFired");
    }

    /// The value of an expression.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let told = self.evaluated(expression);
        assert!(told.get("exceptionDetails").is_none(), "{expression}: {told}");
        told["result"]["value"].clone()
    }

    fn evaluated(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true});
        self.call("Runtime.evaluate", params)
    }

    /// What a person reads.
    pub(crate) fn text(&mut self) -> String {
        self.eval("document.body.innerText").as_str().unwrap_or_default().to_owned()
    }

    /// Waits until something holds.
    #[track_caller]
    pub(crate) fn until(&mut self, expression: &str) {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            // Between two pages there is nothing to ask.
            if self.evaluated(expression)["result"]["value"] == true {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let text = self.text();
        panic!("{expression} never held: {text}");
    }

    pub(crate) fn size(&mut self, width: u32, height: u32) {
        let params = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500});
        self.call("Emulation.setDeviceMetricsOverride", params);
    }

    pub(crate) fn colours(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Presses a key and lets it go.
    pub(crate) fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Tab" => (9, None),
            "Enter" => (13, Some("\r")),
            other => panic!("{other} is not known"),
        };
        let mut down =
            json!({"type": "keyDown", "key": key, "code": key, "windowsVirtualKeyCode": code});
        if let Some(text) = text {
            down["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", down);
        let up = json!({"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code});
        self.call("Input.dispatchKeyEvent", up);
    }

    /// Goes by the tab key to the first thing of which an expression over `it`
    /// holds.
    #[track_caller]
    pub(crate) fn tab_to(&mut self, expression: &str) {
        for _ in 0..200 {
            self.press("Tab");
            if self.eval(&format!("(it => {expression})(document.activeElement)")) == true {
                return;
            }
        }
        let text = self.text();
        panic!("{expression} cannot be reached by the keyboard: {text}");
    }

    /// A picture of what is seen, as PNG.
    pub(crate) fn picture(&mut self) -> Vec<u8> {
        let told = self.call("Page.captureScreenshot", json!({"format": "png"}));
        BASE64.decode(told["data"].as_str().unwrap()).unwrap()
    }

    /// What a person would find in the console of errors.
    pub(crate) fn problems(&self) -> Vec<String> {
        let is_bad = |own: &&Value| match own["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" | "Page.javascriptDialogOpening" => true,
            "Log.entryAdded" => {
                matches!(own["params"]["entry"]["level"].as_str(), Some("error" | "warning"))
            }
            "Runtime.consoleAPICalled" => own["params"]["type"] == "error",
            _ => false,
        };
        self.events.iter().filter(is_bad).map(ToString::to_string).collect()
    }

    /// Everything that was asked for.
    pub(crate) fn requests(&self) -> Vec<String> {
        let sent = self.events.iter().filter(|own| own["method"] == "Network.requestWillBeSent");
        sent.map(|own| own["params"]["request"]["url"].as_str().unwrap().to_owned()).collect()
    }
}

fn pages(host: &str) -> Vec<Value> {
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(stream, "GET /json HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut reader = BufReader::new(stream);
    let mut bytes = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            bytes = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; bytes];
    reader.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}
