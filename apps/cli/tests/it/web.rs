//! `everfold web`, started as people start it.

use crate::desk::Desk;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

fn ask(host: &str, head: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "{head}\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn w1_the_printed_address_opens_the_page() {
    let desk = Desk::offline();
    let added = ["memory", "add", "--type", "project", "--name", "Deploy day", "--description"];
    let args = [&added[..], &["Deploys happen on Tuesdays"]].concat();
    desk.run_with(&args, "Because of the rota. **Why:** x **How to apply:** y").ok();
    let mut child = desk.command(&["web", "--read-only"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let (base, token) = line.trim().split_once("/?token=").unwrap();
    let host =
        base.strip_prefix("http://127.0.0.1:").map(|port| format!("127.0.0.1:{port}")).unwrap();
    assert!(ask(&host, "GET / HTTP/1.1").starts_with("HTTP/1.1 401"));
    let entered = ask(&host, &format!("GET /?token={token} HTTP/1.1"));
    let cookie = entered.split("set-cookie: ").nth(1).unwrap().split(';').next().unwrap();
    let page = ask(&host, &format!("GET /memories HTTP/1.1\r\nCookie: {cookie}"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("Deploy day"), "{page}");
    assert!(page.contains("read only"));
    let holder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = holder.local_addr().unwrap().port().to_string();
    let ran = desk.run(&["web", "--port", &port]).failed(1);
    assert!(ran.err.contains("choose another with --port"), "{ran:?}");
}
