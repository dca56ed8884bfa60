//! Pages from a server on this machine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use everfold_kernel::limits::Limits;
use everfold_kernel::ports::{Page, Web, WebError};
use everfold_web::WebReader;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// No test may run longer, whatever breaks.
const LIMIT: Duration = Duration::from_secs(20);

/// Answers one request by its path.
async fn answer(mut stream: TcpStream, other: u16) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).await.unwrap_or(0) == 0 {
            return;
        }
        request.extend(byte);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let path = request.split(' ').nth(1).unwrap_or("/").to_owned();
    let reply = |head: &str, body: &str| {
        let length = body.len();
        format!("HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
    };
    let typed = |kind: &str, body: &str| reply(&format!("200 OK\r\ncontent-type: {kind}"), body);
    let to = |url: &str| reply(&format!("302 Found\r\nlocation: {url}"), "");
    let text = match path.as_str() {
        "/html" => typed("text/html; charset=utf-8", "<h1>Hi</h1><script>no()</script><p>there"),
        "/json" => typed("application/json", "{\"a\": \"<b>\"}"),
        "/picture" => typed("image/png", "xx"),
        "/bare" => reply("200 OK", "<!doctype html><h2>Bare</h2>"),
        "/bare-binary" => reply("200 OK", "a\0b"),
        "/missing" => reply("404 Not Found\r\ncontent-type: text/plain", "nothing"),
        "/big" => typed("text/plain", &"x".repeat(5000)),
        "/endless" => {
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n";
            let mut sent = stream.write_all(head.as_bytes()).await;
            while sent.is_ok() {
                sent = stream.write_all(&[b'x'; 1000]).await;
            }
            return;
        }
        "/torn" => "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nshort".to_owned(),
        "/silent" => {
            // Held until the other side gives up.
            let _ = stream.read(&mut [0]).await;
            return;
        }
        "/hop" => to("/html"),
        "/circle" => to("/circle"),
        "/away" => to(&format!("http://127.0.0.1:{other}/html")),
        "/file" => to("file:///etc/passwd"),
        "/agent" => typed("text/plain", &request),
        _ => reply("500 Oops", ""),
    };
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
}

/// Fetches a path from a server that answers until the fetch is done.
fn fetch_with(limits: &Limits, path: &str) -> Result<Page, WebError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = server.local_addr().unwrap().port();
        let other = port.wrapping_add(1).max(1024);
        let serve = async {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((stream, _)) = server.accept().await {
                open.spawn(answer(stream, other));
            }
        };
        let reader = WebReader::new(limits);
        let url = format!("http://127.0.0.1:{port}{path}");
        tokio::select! {
            page = reader.fetch(&url) => page,
            () = serve => panic!("the server ended"),
            () = tokio::time::sleep(LIMIT) => panic!("no answer to {path}"),
        }
    })
}

fn fetch(path: &str) -> Result<Page, WebError> {
    fetch_with(&Limits::default(), path)
}

#[test]
fn q5_html_comes_as_markdown_and_the_rest_as_it_is() {
    let page = fetch("/html").unwrap();
    assert_eq!(page.text.trim(), "# Hi\n\nthere");
    assert_eq!((page.status, page.bytes), (200, 40));
    assert_eq!(fetch("/json").unwrap().text, "{\"a\": \"<b>\"}");
    assert_eq!(fetch("/bare").unwrap().text.trim(), "## Bare");
    let missing = fetch("/missing").unwrap();
    assert_eq!((missing.status, missing.text.as_str()), (404, "nothing"));
    let agent = fetch("/agent").unwrap().text.to_ascii_lowercase();
    assert!(agent.contains("user-agent: everfold/"), "{agent}");
}

#[test]
fn q5_what_is_not_text_is_refused() {
    for path in ["/picture", "/bare-binary"] {
        let error = fetch(path).unwrap_err();
        assert!(matches!(error, WebError::NotText { .. }), "{path}: {error}");
    }
}

#[test]
fn q5_redirects_stay_on_the_host() {
    let page = fetch("/hop").unwrap();
    assert!(page.url.ends_with("/html"), "{}", page.url);
    for path in ["/away", "/file"] {
        let error = fetch(path).unwrap_err();
        assert!(matches!(error, WebError::Redirect { .. }), "{path}: {error}");
    }
    let error = fetch("/circle").unwrap_err();
    assert!(error.to_string().contains("redirects"), "{error}");
}

#[test]
fn s6_size_and_time_are_bounded() {
    let small = Limits { web_bytes: 4000, web_timeout_s: 1, ..Limits::default() };
    for path in ["/big", "/endless"] {
        let error = fetch_with(&small, path).unwrap_err();
        assert!(error.to_string().contains("4000 bytes"), "{path}: {error}");
    }
    let error = fetch_with(&small, "/silent").unwrap_err();
    assert!(error.to_string().contains("within 1 seconds"), "{error}");
}

#[test]
fn s6_a_torn_answer_is_said() {
    let error = fetch("/torn").unwrap_err();
    assert!(matches!(error, WebError::Failed { .. }), "{error}");
}

#[test]
fn s6_only_web_addresses_are_fetched() {
    let reader = WebReader::new(&Limits::default());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for url in ["file:///etc/passwd", "ftp://a.example", "no url", "", "http://"] {
        let error = runtime.block_on(reader.fetch(url)).unwrap_err();
        assert!(matches!(error, WebError::Url { .. }), "{url}: {error}");
    }
}
