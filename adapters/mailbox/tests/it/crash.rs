//! Sender and receiver are killed at any point, and every letter that was sent
//! arrives in the log once, in order.
//!
//! The test runs itself as another process (`child`), which sends or receives
//! until it is killed.

use crate::post::{draft, member, name, outside, texts};
use everfold_disk::jsonl::{self, Appender};
use everfold_kernel::ports::{Address, Post, PostError};
use everfold_mailbox::DiskPost;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const ROLE: &str = "MAILBOX_TEST_ROLE";
const HOME: &str = "MAILBOX_TEST_HOME";
const FROM: &str = "MAILBOX_TEST_FROM";
const WAY: &str = "MAILBOX_TEST_WAY";

/// How the letters go.
#[derive(Clone, Copy)]
enum Way {
    Mailbox,
    Socket,
}

impl Way {
    fn named(name: &str) -> Self {
        if name == "socket" { Self::Socket } else { Self::Mailbox }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Mailbox => "mailbox",
            Self::Socket => "socket",
        }
    }

    fn to(self) -> Address {
        match self {
            Self::Mailbox => Address::Name(name("bob")),
            Self::Socket => Address::Session("s2".into()),
        }
    }

    fn sender(self, home: &Path) -> DiskPost {
        match self {
            Self::Mailbox => member(home, "ada"),
            Self::Socket => outside(home),
        }
    }

    async fn receiver(self, home: &Path) -> DiskPost {
        let bob = match self {
            Self::Mailbox => member(home, "bob"),
            Self::Socket => outside(home),
        };
        bob.open(&"s2".into(), &home.join("s2")).await.unwrap();
        bob
    }
}

/// What a child does; as a test of its own it does nothing.
#[tokio::test]
async fn child() {
    let (Ok(role), Ok(home)) = (std::env::var(ROLE), std::env::var(HOME)) else { return };
    let (home, way) = (Path::new(&home), Way::named(&std::env::var(WAY).unwrap()));
    match role.as_str() {
        "send" => send(home, way, std::env::var(FROM).unwrap().parse().unwrap()).await,
        _ => receive(home, way).await,
    }
}

/// Sends numbers, and says each when it is sent, until nobody takes them.
async fn send(home: &Path, way: Way, from: u64) {
    let ada = way.sender(home);
    for number in from.. {
        match ada.send(&way.to(), draft("ada", &number.to_string())).await {
            Ok(_) => println!("sent {number}"),
            Err(PostError::NotRunning { .. } | PostError::Unanswered { .. }) => break,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Puts what comes into the log, as a session does.
async fn receive(home: &Path, way: Way) {
    let bob = way.receiver(home).await;
    let log = home.join("bob.jsonl");
    let mut file = Appender::open(&log).unwrap();
    println!("ready");
    loop {
        bob.arrival().await;
        let letters = bob.collect(&log).await.unwrap();
        let mut ids = Vec::new();
        for (letter, text) in letters.iter().zip(texts(&letters)) {
            let line = format!(r#"{{"letter":"{}","text":"{text}"}}"#, letter.id);
            file.append(line.as_bytes()).unwrap();
            ids.push(letter.id.clone());
        }
        bob.settle(&ids).await.unwrap();
    }
}

struct Process(Child);

impl Process {
    fn start(home: &Path, way: Way, role: &str, from: u64) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "crash::child", "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(HOME, home)
            .env(WAY, way.name())
            .env(FROM, from.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        Self(command.spawn().unwrap())
    }

    /// Reads until a line says this many things were done; the last number.
    fn after(&mut self, lines: usize, word: &str) -> Option<u64> {
        let mut last = None;
        let reader = BufReader::new(self.0.stdout.as_mut().unwrap());
        for line in
            reader.lines().map_while(Result::ok).filter(|line| line.contains(word)).take(lines)
        {
            last = line.rsplit(' ').next().and_then(|number| number.parse().ok()).or(last);
        }
        last
    }

    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn logged(home: &Path) -> Vec<u64> {
    let mut seen = Vec::new();
    let _ = jsonl::read(&home.join("bob.jsonl"), 1 << 20, &mut |line| {
        let value: serde_json::Value = serde_json::from_slice(line).unwrap();
        seen.push(value["text"].as_str().unwrap().parse().unwrap());
    });
    seen
}

/// Kills sender and receiver again and again, then lets the receiver finish.
async fn rounds(way: Way, count: u64) {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    way.receiver(home).await.close().await;
    let mut confirmed = Vec::new();
    let mut from = 1;
    for round in 0..count {
        let mut receiver = Process::start(home, way, "receive", 0);
        receiver.after(1, "ready");
        let mut sender = Process::start(home, way, "send", from);
        let last = sender.after(1 + usize::try_from(round * 7 % 23).unwrap(), "sent").unwrap();
        confirmed.extend(from..=last);
        // Which of the two dies first differs from round to round.
        if round % 2 == 0 {
            sender.kill();
            receiver.kill();
        } else {
            receiver.kill();
            sender.kill();
        }
        // A number after the confirmed ones may or may not have been sent.
        from = last + 1_000;
    }
    let bob = way.receiver(home).await;
    let log = home.join("bob.jsonl");
    let rest = bob.collect(&log).await.unwrap();
    let mut all = logged(home);
    all.extend(texts(&rest).iter().map(|text| text.parse::<u64>().unwrap()));
    assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "twice or out of order: {all:?}");
    let lost: Vec<u64> = confirmed.into_iter().filter(|number| !all.contains(number)).collect();
    assert!(lost.is_empty(), "lost {lost:?}");
}

#[tokio::test]
async fn l7_5_kill_9_of_either_side_loses_nothing_and_doubles_nothing() {
    rounds(Way::Mailbox, 4).await;
}

#[cfg(unix)]
#[tokio::test]
async fn l7_5_kill_9_loses_no_letter_that_a_socket_took() {
    rounds(Way::Socket, 6).await;
}

#[tokio::test]
#[ignore = "the full figure, for soak runs"]
async fn l7_5_kill_9_soak() {
    rounds(Way::Mailbox, 200).await;
}

#[cfg(unix)]
#[tokio::test]
#[ignore = "the full figure, for soak runs"]
async fn l7_5_kill_9_of_sockets_soak() {
    rounds(Way::Socket, 200).await;
}
