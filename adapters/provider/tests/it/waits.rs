//! Servers that keep one waiting: each wait is told in time, and ends (S16).

use crate::{call, config, events, retries};
use everfold_kernel::ports::{ModelError, ModelEvent};
use everfold_provider::{AnthropicProvider, OpenAiProvider, Progress, ProviderConfig};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

const STREAM: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/// A server that does the same with every connection, until nobody listens.
fn server(serve: fn(&mut TcpStream) -> std::io::Result<()>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            std::thread::spawn(move || serve(&mut stream));
        }
    });
    address.to_string()
}

/// Says the same again and again, after a head.
fn repeats(stream: &mut TcpStream, head: &[u8], said: &[u8]) -> std::io::Result<()> {
    let mut request = [0; 4096];
    let _ = stream.read(&mut request)?;
    stream.write_all(head)?;
    loop {
        stream.write_all(said)?;
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn impatient(url: &str) -> ProviderConfig {
    let mut config = config(url);
    config.limits.max_retries = 1;
    config.limits.stream_idle_s = 1;
    config.limits.stream_ping_s = 1;
    config.limits.connect_timeout_s = 1;
    config.limits.wait_notice_ms = 200;
    config
}

async fn ask(config: &ProviderConfig) -> (Vec<ModelEvent>, String) {
    let provider = AnthropicProvider::new(config).unwrap();
    let (events, error) = events(&provider, call("{}")).await;
    let error = error.unwrap();
    let fits = matches!(error, ModelError::Unreachable { .. } | ModelError::Broken { .. });
    assert!(fits, "{error:?}");
    (events, error.to_string())
}

/// What was told of waits.
fn waits(events: &[ModelEvent]) -> Vec<&str> {
    let told = events.iter().filter_map(|event| match event {
        ModelEvent::Waiting { waited, reason } => {
            assert!(*waited < Duration::from_secs(5), "{waited:?}");
            Some(reason.as_str())
        }
        _ => None,
    });
    told.collect()
}

#[tokio::test]
async fn s16_a_server_that_never_answers_is_told_and_left() {
    let address = server(|stream| stream.read_to_end(&mut Vec::new()).map(|_| ()));
    let (events, error) = ask(&impatient(&format!("http://{address}"))).await;
    let told = waits(&events);
    let first = told.first().unwrap();
    assert!(first.contains("no answer yet from http://127.0.0.1"), "{first}");
    assert!(first.ends_with("(attempt 1 of 2)"), "{first}");
    assert!(told.iter().any(|told| told.ends_with("(attempt 2 of 2)")), "{told:?}");
    assert!(error.contains("no answer within 1 s; gave up after 2 attempts"), "{error}");
    assert_eq!(retries(&events), 1);
}

/// Reads the prompt for longer than a server may be silent, then answers.
fn slow_reader(stream: &mut TcpStream) -> std::io::Result<()> {
    let _ = stream.read(&mut [0; 4096])?;
    std::thread::sleep(Duration::from_millis(1_500));
    stream.write_all(STREAM)?;
    let choice = r#"{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}"#;
    write!(stream, "data: {{\"id\": \"1\", \"choices\": [{choice}]}}\n\ndata: [DONE]\n\n")
}

#[tokio::test]
async fn q17_a_server_of_ones_own_may_read_a_long_prompt_in_silence() {
    let address = server(slow_reader);
    let mut config = impatient(&format!("http://{address}/v1"));
    config.limits.max_retries = 0;
    config.limits.stream_ping_s = 5;
    config.limits.slowest_prompt_tokens_per_s = 10;
    let long = format!(r#"{{"messages": "{}"}}"#, "word ".repeat(32));
    for (prompt, is_answered) in [(long.as_str(), true), ("{}", false)] {
        let provider = OpenAiProvider::new(&config, Progress::Unasked).unwrap();
        let (events, error) = events(&provider, call(prompt)).await;
        assert!(!waits(&events).is_empty(), "{events:?}");
        assert_eq!(error.is_none(), is_answered, "{error:?}");
    }
}

#[tokio::test]
async fn s16_a_stream_that_only_comments_is_silent() {
    let address = server(|stream| repeats(stream, STREAM, b": still here\n\n"));
    let (events, error) = ask(&impatient(&format!("http://{address}"))).await;
    let told = waits(&events);
    assert!(told.iter().all(|told| told.contains("no answer yet")), "{told:?}");
    assert!(!told.is_empty() && retries(&events) == 1, "{events:?}");
    assert!(error.contains("no data for 1 s; gave up after 2 attempts"), "{error}");
}

#[tokio::test]
async fn s16_a_stream_of_pings_has_an_end() {
    let address =
        server(|stream| repeats(stream, STREAM, b"event: ping\ndata: {\"type\": \"ping\"}\n\n"));
    let (events, error) = ask(&impatient(&format!("http://{address}"))).await;
    assert!(error.contains("only pings for 1 s"), "{error}");
    assert!(!waits(&events).is_empty());
}

#[tokio::test]
async fn s16_no_tls_is_told() {
    let silent = server(|stream| stream.read_to_end(&mut Vec::new()).map(|_| ()));
    let plain = server(|stream| {
        let _ = stream.read(&mut [0; 512])?;
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    });
    for address in [silent, plain] {
        let (events, error) = ask(&impatient(&format!("https://{address}"))).await;
        assert_eq!(retries(&events), 1);
        assert!(
            error.contains("https://127.0.0.1") && error.contains("gave up after 2 attempts"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn s16_all_tries_together_have_an_end() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let gone = listener.local_addr().unwrap();
    drop(listener);
    let mut config = impatient(&format!("http://{gone}"));
    config.limits.max_retries = 1_000;
    config.limits.retry_base_ms = 100;
    config.limits.retry_max_ms = 100;
    config.limits.retry_total_s = 1;
    let began = Instant::now();
    let (events, error) = ask(&config).await;
    let Some(ModelEvent::Retrying { attempt: 1, most: 1_001, reason, .. }) = events.first() else {
        panic!("{events:?}");
    };
    assert!(reason.contains("http://127.0.0.1"), "{reason}");
    assert!((2..=20).contains(&retries(&events)), "{}", retries(&events));
    assert!(error.contains("attempts in"), "{error}");
    assert!(began.elapsed() < Duration::from_secs(10));
}
