//! `everfold web`, started as people start it.

mod scale;

use crate::desk::Desk;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A page that is served, and a way to ask for it.
struct Page {
    child: Child,
    host: String,
    token: String,
    cookie: String,
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Page {
    fn start(desk: &Desk, args: &[&str]) -> Self {
        let mut child = desk.command(args).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (base, token) = line.trim().split_once("/?token=").unwrap();
        let host = base.strip_prefix("http://").unwrap().to_owned();
        let mut own = Self { child, host, token: token.to_owned(), cookie: String::new() };
        let entered = own.get(&format!("/?token={token}"));
        let cookie = entered.split("set-cookie: ").nth(1).unwrap().split(';').next().unwrap();
        cookie.clone_into(&mut own.cookie);
        own
    }

    fn ask(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n", self.host);
        write!(stream, "{head}Cookie: {}\r\n\r\n", self.cookie).unwrap();
        stream
    }

    fn get(&self, path: &str) -> String {
        let mut bytes = Vec::new();
        self.ask(path).read_to_end(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// How long it takes until a page begins.
    fn first_byte(&self, path: &str) -> Duration {
        let begun = Instant::now();
        let mut stream = self.ask(path);
        stream.read_exact(&mut [0]).unwrap();
        begun.elapsed()
    }

    /// Waits until all sessions are read.
    fn settle(&self) {
        while self.get("/sessions").contains("for the first time") {
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    /// The most memory that the program had, in kB; 0 where that is not told.
    fn peak_kb(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
    }
}

#[test]
fn w1_the_printed_address_opens_the_page() {
    let desk = Desk::offline();
    let added = ["memory", "add", "--type", "project", "--name", "Deploy day", "--description"];
    let args = [&added[..], &["Deploys happen on Tuesdays"]].concat();
    desk.run_with(&args, "Because of the rota. **Why:** x **How to apply:** y").ok();
    let mut page = Page::start(&desk, &["web", "--read-only"]);
    assert!(page.host.starts_with("127.0.0.1:") && page.token.len() == 48);
    let shown = page.get("/memories");
    assert!(shown.starts_with("HTTP/1.1 200") && shown.contains("Deploy day"), "{shown}");
    assert!(shown.contains("read only"));
    page.cookie = "everfold=x".to_owned();
    assert!(page.get("/").starts_with("HTTP/1.1 401"));
    let port = page.host.split(':').nth(1).unwrap();
    let ran = desk.run(&["web", "--port", port]).failed(1);
    assert!(ran.err.contains("choose another with --port"), "{ran:?}");
}
