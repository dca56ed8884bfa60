//! Mailboxes and sockets with anything in them (L7.5, S6, S17): nothing
//! panics, and whatever lies beside real letters, they come once, whole and in
//! their order. The same cases with every change; at length, by bolero, in
//! `cargo xtask soak fuzz`.

use crate::post::{draft, member, name, outside, texts};
use everfold_kernel::LetterId;
use everfold_kernel::ports::{Address, Post as _};
use std::path::{Path, PathBuf};
use tokio::runtime::Runtime;

/// Cases of an ordinary run.
const FEW: u64 = 60;
/// Cases of a soak.
const MANY: usize = 3_000;

/// A letter as it lies in a mailbox, to be cut and mixed with other bytes.
const LETTER: &str = r#"{"id":"x1","from":"../../eve","seq":18446744073709551615,"sent":"1970-01-01T00:00:00Z","summary":null,"body":{"type":"message","text":"odd"},"provenance":null}"#;

/// Any bytes, often nearly a letter.
fn nearly(bytes: &[u8]) -> Vec<u8> {
    let (cut, skip) = (at(bytes, 0), at(bytes, 1));
    let mut text = LETTER.as_bytes().to_vec();
    text.truncate(cut);
    text.extend(bytes.iter().skip(8));
    text.extend(LETTER.bytes().skip(skip));
    text
}

fn at(bytes: &[u8], place: usize) -> usize {
    bytes.get(place).map_or(0, |byte| usize::from(*byte))
}

/// Names that a file in a mailbox could have.
const NAMES: &[&str] = &[
    "00000000000000000000.ada.json",
    "00000000000000000001.ada.json",
    "18446744073709551615.ada.json",
    "99999999999999999999.ada.json",
    "00000000000000000001.eve.json",
    "x.json",
    ".json",
    ".hidden.json",
    "no-letter",
    "0.json",
    "00000000000000000001.ada.json.tmp",
    "a b\n.json",
];

/// Puts something into a directory of a mailbox that no letter is.
fn litter(dir: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(dir).unwrap();
    let path = dir.join(NAMES[at(bytes, 2) % NAMES.len()]);
    // A letter that was really sent is not what this writes over.
    if path.symlink_metadata().is_ok() {
        return;
    }
    match at(bytes, 3) % 8 {
        0 => std::fs::create_dir(&path).unwrap(),
        #[cfg(unix)]
        1 => std::os::unix::fs::symlink("/dev/zero", &path).unwrap(),
        #[cfg(unix)]
        2 => std::os::unix::fs::symlink("nowhere", &path).unwrap(),
        #[cfg(unix)]
        3 => {
            use std::os::unix::ffi::OsStrExt as _;
            let odd = std::ffi::OsStr::from_bytes(b"\xff\xfe.json");
            std::fs::write(dir.join(odd), nearly(bytes)).unwrap();
        }
        #[cfg(unix)]
        4 => drop(std::os::unix::net::UnixListener::bind(&path)),
        _ => std::fs::write(&path, nearly(bytes)).unwrap(),
    }
}

/// Letters of `ada` among what came of a mailbox.
fn of_ada(letters: &[everfold_kernel::ports::Letter]) -> Vec<String> {
    let ada: Vec<_> = letters.iter().filter(|letter| letter.from == "ada").cloned().collect();
    texts(&ada).into_iter().map(str::to_owned).collect()
}

/// A mailbox with litter in each of its places still brings its letters.
fn mailbox(run: &Runtime, bytes: &[u8]) {
    let home = tempfile::tempdir().unwrap();
    let (ada, bob) = (member(home.path(), "ada"), member(home.path(), "bob"));
    let place = home.path().join("teams/crew/mail/bob");
    let log = home.path().join("log.jsonl");
    run.block_on(async {
        ada.open(&"s1".into(), &home.path().join("s1")).await.unwrap();
        bob.open(&"s2".into(), &home.path().join("s2")).await.unwrap();
        let to = Address::Name(name("bob"));
        for text in ["one", "two"] {
            ada.send(&to, draft("ada", text)).await.unwrap();
        }
        litter(&place.join("new"), bytes);
        litter(&place.join("taken"), bytes.get(4..).unwrap_or_default());
        // What the next number is was written over, too.
        let number: &[u8] = match at(bytes, 4) % 4 {
            0 => b"18446744073709551615",
            1 => bytes,
            2 => b"",
            _ => b"3",
        };
        // A lower number that is one would be an attack on one's own home.
        let low = |text: &str| text.trim().parse::<u64>().is_ok_and(|number| number < 3);
        if !std::str::from_utf8(number).is_ok_and(low) {
            std::fs::write(place.join("next/ada"), number).unwrap();
        }
        std::fs::write(place.join("log"), bytes).unwrap();
        for text in ["three", "four"] {
            ada.send(&to, draft("ada", text)).await.unwrap();
        }
        let letters = bob.collect(&log).await.unwrap();
        assert_eq!(of_ada(&letters), ["one", "two", "three", "four"]);
        let ids: Vec<LetterId> = letters.iter().map(|letter| letter.id.clone()).collect();
        bob.settle(&ids).await.unwrap();
        assert_eq!(bob.collect(&log).await.unwrap(), [], "each comes once");
        ada.send(&to, draft("ada", "five")).await.unwrap();
        assert_eq!(of_ada(&bob.collect(&log).await.unwrap()), ["five"]);
        ada.close().await;
        bob.close().await;
    });
}

/// Files below a directory.
fn below(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
    entries
        .flat_map(|entry| {
            let path = entry.path();
            if path.is_dir() { below(&path) } else { vec![path] }
        })
        .collect()
}

/// Whatever a socket is sent, it answers, and goes on.
#[cfg(unix)]
fn socket(run: &Runtime, bytes: &[u8]) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (outside(home.path()), outside(home.path()));
    run.block_on(async {
        two.open(&"s2".into(), &home.path().join("s2")).await.unwrap();
        let mut stream =
            tokio::net::UnixStream::connect(home.path().join("run/s2.sock")).await.unwrap();
        let mut sent = nearly(bytes);
        if at(bytes, 5).is_multiple_of(2) {
            sent.push(b'\n');
        }
        // It may have answered and gone before all was written.
        let _ = stream.write_all(&sent).await;
        let _ = stream.shutdown().await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        let answer = String::from_utf8(answer).unwrap();
        let first = sent.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let letter = serde_json::from_slice::<everfold_kernel::ports::Letter>(first);
        match letter {
            Ok(_) => assert_eq!(answer, "ok\n"),
            Err(_) => assert!(answer.starts_with("no ") || answer.is_empty(), "{answer}"),
        }
        one.send(&Address::Session("s2".into()), draft("0192-a", "real")).await.unwrap();
        let letters = two.collect(Path::new("/nowhere")).await.unwrap();
        assert_eq!(texts(&letters).last(), Some(&"real"));
        assert!(letters.len() <= 2 && letters.iter().all(|letter| letter.seq <= 2));
        let strange = below(home.path()).into_iter().find(|path| {
            !path.starts_with(home.path().join("s2/mail"))
                && !path.starts_with(home.path().join("run"))
        });
        assert_eq!(strange, None, "a letter is kept in the mailbox and nowhere else");
        two.close().await;
    });
}

type Target = fn(&Runtime, &[u8]);

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// The same bytes every time: what fails, fails for everybody.
fn few(target: Target) {
    let run = runtime();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for _ in 0..FEW {
        let bytes: Vec<u8> = (0..24)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state.to_be_bytes()[0]
            })
            .collect();
        target(&run, &bytes);
    }
}

#[test]
fn s6_l7_5_litter_in_a_mailbox_loses_no_letter() {
    few(mailbox);
}

/// The place of a log that is a directory, or nothing that can be one.
#[test]
fn s6_l7_5_a_mailbox_with_no_log_at_its_log_loses_no_letter() {
    let run = runtime();
    for place in ["/", "/dev", "/dev/null", "."] {
        mailbox(&run, place.as_bytes());
    }
}

#[cfg(unix)]
#[test]
fn s17_whatever_comes_by_a_socket_is_answered() {
    few(socket);
}

#[test]
#[ignore = "a soak: cargo xtask soak fuzz"]
fn l7_5_fuzz_of_letters() {
    let run = runtime();
    let targets: &[(&str, Target)] = &[
        ("mailboxes with litter", mailbox),
        #[cfg(unix)]
        ("lines that come by a socket", socket),
    ];
    for (about, target) in targets {
        bolero::check!()
            .with_type::<Vec<u8>>()
            .with_iterations(MANY)
            .with_max_len(256)
            .for_each(|bytes: &Vec<u8>| target(&run, bytes));
        println!("{about}: {MANY} cases");
    }
}
