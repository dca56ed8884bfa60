use crate::house::House;
use everfold_kernel::Flag;
use everfold_settings::{FlagLocation, LiveFlags, ValueOrigin, spawn_poller};
use serde_json::json;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_millis(10);
const DEADLINE: Duration = Duration::from_secs(20);

/// Answers one request with each text it is handed, then tells so.
struct Server {
    url: String,
    answers: Sender<String>,
    served: Receiver<()>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/flags", listener.local_addr().unwrap());
        let (answers, to_send) = channel::<String>();
        let (done, served) = channel();
        std::thread::spawn(move || {
            // Ends when the test drops its end of the channel.
            for answer in to_send {
                let Ok((stream, _)) = listener.accept() else {
                    return;
                };
                serve(stream, &answer);
                if done.send(()).is_err() {
                    return;
                }
            }
        });
        Self { url, answers, served }
    }

    fn answer(&self, status: &str, body: &str) {
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
        self.answers.send(head + body).unwrap();
    }

    fn wait(&self) {
        self.served.recv_timeout(DEADLINE).expect("a request");
    }
}

fn serve(mut stream: TcpStream, answer: &str) {
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        request.push(byte[0]);
    }
    // The client may hang up on an answer that is too large.
    let _ = stream.write_all(answer.as_bytes());
}

fn live(house: &House) -> LiveFlags {
    LiveFlags::new(house.load().unwrap())
}

async fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < DEADLINE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn recall_on(live: &LiveFlags) -> bool {
    live.current().0.is_on(Flag::Recall)
}

#[test]
fn q3_the_provider_is_above_settings_and_below_environment_and_managed() {
    let house = House::new()
        .home_settings(
            &json!({"everfold": {"flags": {"recall": true}, "limits": {"max_retries": 1}}}),
        )
        .env("EVERFOLD_FLAG_SNIP", "1")
        .managed(&json!({"everfold": {"limits": {"turn_requests": 9}}}));
    let live = live(&house);
    let answer = json!({"flags": {"recall": false, "snip": false, "new": true},
                        "limits": {"max_retries": 4, "turn_requests": 1}});
    live.apply(answer.to_string().as_bytes()).unwrap();
    let (flags, limits) = live.current();
    assert!(!flags.is_on(Flag::Recall));
    assert!(flags.is_on(Flag::Snip));
    assert_eq!((limits.max_retries, limits.turn_requests), (4, 9));
    let resolved = live.resolved();
    assert_eq!(resolved.origin("/everfold/flags/recall"), &ValueOrigin::Provider);
    // What it no longer says no longer holds.
    live.apply(b"{}").unwrap();
    assert!(recall_on(&live));
    assert_eq!(live.current().1.max_retries, 1);
}

#[test]
fn q3_an_answer_is_taken_whole_or_not_at_all() {
    let live = live(&House::new());
    live.apply(br#"{"flags": {"recall": false}}"#).unwrap();
    for wrong in [
        "",
        "[]",
        "{\"flags\": 5}",
        r#"{"flags": {"recall": true}, "limits": {"max_retries": "x"}}"#,
        r#"{"flags": {"recall": "yes"}}"#,
    ] {
        assert!(live.apply(wrong.as_bytes()).is_err(), "{wrong}");
        assert!(!recall_on(&live), "{wrong}");
    }
}

#[test]
fn q3_settings_read_anew_stay_under_the_provider_and_keep_what_is_gone() {
    let retries = |max: u32| json!({"everfold": {"limits": {"max_retries": max, "read_lines": 5}}});
    let house = House::new().home_settings(&retries(1)).local(&json!({"model": "m"}));
    let live = live(&house);
    live.apply(br#"{"flags": {"recall": false}, "limits": {"max_retries": 4}}"#).unwrap();
    let house = house.home_settings(
        &json!({"everfold": {"flags": {"recall": true}, "limits": {"read_lines": 9}}}),
    );
    assert!(live.renew(&house.load().unwrap()).unwrap().is_empty());
    let (flags, limits) = live.current();
    assert!(!flags.is_on(Flag::Recall), "the provider is above files");
    assert_eq!((limits.max_retries, limits.read_lines), (4, 9));
    std::fs::remove_file(house.path("home/settings.json")).unwrap();
    let gone = live.renew(&house.load().unwrap()).unwrap();
    assert!(matches!(gone[..], [ValueOrigin::Home(_)]), "{gone:?}");
    assert_eq!(live.current().1.read_lines, 9);
    let house = house.home_settings(&json!({}));
    assert!(live.renew(&house.load().unwrap()).unwrap().is_empty());
    assert_eq!(live.current().1.read_lines, everfold_kernel::Limits::default().read_lines);
}

#[tokio::test]
async fn q3_a_file_is_read_at_once_and_followed() {
    let house = House::new().write("flags.json", r#"{"flags": {"recall": false}}"#);
    let live = live(&house);
    let path = house.path("flags.json");
    let handle = spawn_poller(live.clone(), FlagLocation::File(path.clone()), SOON);
    assert!(!recall_on(&live), "read before the first await");
    std::fs::write(&path, r#"{"flags": {"recall": true}}"#).unwrap();
    until("the change is seen", || recall_on(&live)).await;
    std::fs::write(&path, r#"{"flags": {"recall": false}, "limits": {"max_retries": 2}}"#).unwrap();
    until("the limit is seen", || live.current().1.max_retries == 2).await;
    drop(handle);
}

#[tokio::test]
async fn q3_a_file_that_is_not_there_yet_is_waited_for() {
    let house = House::new();
    let live = live(&house);
    let path = house.path("flags.json");
    let _handle = spawn_poller(live.clone(), FlagLocation::File(path), SOON);
    assert!(recall_on(&live));
    assert!(live.problem().is_some_and(|why| why.contains("no such file")));
    let _house = house.write("flags.json", r#"{"flags": {"recall": false}}"#);
    until("the file is seen", || !recall_on(&live)).await;
    until("all is well", || live.problem().is_none()).await;
}

#[tokio::test]
async fn q3_a_url_is_followed_and_bad_answers_change_nothing() {
    let server = Server::start();
    let live = live(&House::new());
    let source = FlagLocation::Url(server.url.parse().unwrap());
    let _handle = spawn_poller(live.clone(), source, SOON);
    server.answer("200 OK", r#"{"flags": {"recall": false}}"#);
    until("the first answer", || !recall_on(&live)).await;
    server.wait();
    let large = format!("{{\"x\": \"{}\"}}", "y".repeat(2 * 1024 * 1024));
    for (status, body) in [
        ("500 Oops", r#"{"flags": {"recall": true}}"#),
        ("302 Found", r#"{"flags": {"recall": true}}"#),
        ("200 OK", "<html>"),
        ("200 OK", &large),
    ] {
        server.answer(status, body);
        until("a bad answer", || server.served.try_recv().is_ok()).await;
        assert!(!recall_on(&live), "{status}");
    }
    server.answer("200 OK", r#"{"limits": {"max_retries": 3}}"#);
    until("a good answer again", || live.current().1.max_retries == 3).await;
    assert!(recall_on(&live));
}

#[tokio::test]
async fn q3_an_address_that_never_answers_does_not_delay_the_start() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let live = live(&House::new());
    let start = Instant::now();
    let handle = spawn_poller(live.clone(), FlagLocation::Url(url.parse().unwrap()), SOON);
    tokio::task::yield_now().await;
    assert!(recall_on(&live));
    drop(handle);
    assert!(start.elapsed() < DEADLINE);
}
