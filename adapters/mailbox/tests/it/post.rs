//! Mailboxes and sockets of one process after another.

use everfold_kernel::Timestamp;
use everfold_kernel::limits::AgentLimits;
use everfold_kernel::ports::{
    Address, AgentName, Body, Clock, Letter, LetterDraft, Post, PostError,
};
use everfold_mailbox::DiskPost;
use std::path::Path;
use std::sync::Arc;

pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn fresh_uuid(&self) -> String {
        uuid::Uuid::now_v7().to_string()
    }
}

pub(crate) fn name(text: &str) -> AgentName {
    AgentName::parse(text).unwrap()
}

pub(crate) fn member(home: &Path, who: &str) -> DiskPost {
    outside(home).join(home, &name("crew"), &name(who)).unwrap()
}

pub(crate) fn outside(home: &Path) -> DiskPost {
    DiskPost::new(home, Arc::new(SystemClock), AgentLimits::default())
}

pub(crate) fn draft(from: &str, text: &str) -> LetterDraft {
    LetterDraft {
        from: from.into(),
        summary: None,
        body: Body::Message { text: text.into() },
        provenance: None,
    }
}

pub(crate) fn texts(letters: &[Letter]) -> Vec<&str> {
    let text = |letter: &'_ Letter| match &letter.body {
        Body::Message { text } => text.as_str().to_owned(),
        _ => String::new(),
    };
    letters.iter().map(text).map(|text| &*text.leak()).collect()
}

#[tokio::test]
async fn l7_5_letters_wait_in_a_mailbox_and_come_once_in_order() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("log.jsonl");
    let (ada, bob) = (member(home.path(), "ada"), member(home.path(), "bob"));
    ada.open(&"s1".into(), &home.path().join("s1")).await.unwrap();
    bob.open(&"s2".into(), &home.path().join("s2")).await.unwrap();
    for text in ["one", "two", "three"] {
        let sent = ada.send(&Address::Name(name("bob")), draft("ada", text)).await.unwrap();
        assert_eq!(sent, ["bob"]);
    }
    let letters = bob.collect(&log).await.unwrap();
    assert_eq!(texts(&letters), ["one", "two", "three"]);
    assert_eq!(letters.iter().map(|letter| letter.seq).collect::<Vec<_>>(), [1, 2, 3]);
    let ids: Vec<_> = letters.iter().map(|letter| letter.id.clone()).collect();
    bob.settle(&ids).await.unwrap();
    assert!(bob.collect(&log).await.unwrap().is_empty());
    let error = ada.send(&Address::Name(name("eve")), draft("ada", "x")).await.unwrap_err();
    assert_eq!(error.to_string(), "no one is called eve; there is bob");
}

#[tokio::test]
async fn l7_5_everybody_who_runs_gets_a_letter_to_all() {
    let home = tempfile::tempdir().unwrap();
    let (ada, bob, cid) =
        (member(home.path(), "ada"), member(home.path(), "bob"), member(home.path(), "cid"));
    for (post, session) in [(&ada, "s1"), (&bob, "s2"), (&cid, "s3")] {
        post.open(&session.into(), &home.path().join(session)).await.unwrap();
    }
    cid.close().await;
    let sent = ada.send(&Address::Everyone, draft("ada", "hello")).await.unwrap();
    assert_eq!(sent, ["bob"]);
    assert_eq!(bob.collect(&home.path().join("log")).await.unwrap().len(), 1);
    assert!(ada.collect(&home.path().join("log")).await.unwrap().is_empty());
}

#[tokio::test]
async fn l7_5_a_name_is_held_by_one_process_at_a_time() {
    let home = tempfile::tempdir().unwrap();
    let ada = member(home.path(), "ada");
    let second = outside(home.path()).join(home.path(), &name("crew"), &name("ada"));
    assert!(matches!(second.err(), Some(PostError::NameTaken { .. })));
    ada.close().await;
    assert!(outside(home.path()).join(home.path(), &name("crew"), &name("ada")).is_ok());
}

#[cfg(unix)]
#[tokio::test]
async fn l7_5_another_session_is_reached_by_its_socket() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (outside(home.path()), outside(home.path()));
    two.open(&"0192-b".into(), &home.path().join("0192-b")).await.unwrap();
    one.send(&Address::Session("0192-b".into()), draft("0192-a", "first")).await.unwrap();
    let path = home.path().join("run/0192-b.sock");
    one.send(&Address::Socket(path.clone()), draft("0192-a", "second")).await.unwrap();
    two.arrival().await;
    let letters = two.collect(Path::new("/nowhere")).await.unwrap();
    assert_eq!(texts(&letters), ["first", "second"]);
    let ids: Vec<_> = letters.iter().map(|letter| letter.id.clone()).collect();
    two.settle(&ids).await.unwrap();
    assert!(two.collect(Path::new("/nowhere")).await.unwrap().is_empty(), "once");
    two.close().await;
    assert!(!path.exists(), "nothing is left behind");
    let error = one.send(&Address::Socket(path), draft("a", "x")).await.unwrap_err();
    assert!(matches!(error, PostError::NotRunning { .. }), "{error}");
    let error = one.send(&Address::Name(name("bob")), draft("a", "x")).await.unwrap_err();
    assert_eq!(error, PostError::NoTeam);
}

#[cfg(unix)]
#[tokio::test]
async fn l7_5_a_letter_that_a_session_took_waits_for_it_to_be_resumed() {
    let home = tempfile::tempdir().unwrap();
    let (session, dir) = ("0192-b".into(), home.path().join("0192-b"));
    let (one, two) = (outside(home.path()), outside(home.path()));
    two.open(&session, &dir).await.unwrap();
    one.send(&Address::Session(session.clone()), draft("0192-a", "hello")).await.unwrap();
    two.close().await;
    // Another session does not get it.
    let other = outside(home.path());
    other.open(&"0192-c".into(), &home.path().join("0192-c")).await.unwrap();
    assert!(other.collect(Path::new("/nowhere")).await.unwrap().is_empty());
    let again = outside(home.path());
    again.open(&session, &dir).await.unwrap();
    again.arrival().await;
    assert_eq!(texts(&again.collect(Path::new("/nowhere")).await.unwrap()), ["hello"]);
}

#[cfg(unix)]
#[tokio::test]
async fn l7_5_a_session_that_cannot_keep_a_letter_says_so() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (outside(home.path()), outside(home.path()));
    two.open(&"s".into(), &home.path().join("s")).await.unwrap();
    // A file where the mailbox should be: root may write anywhere else.
    std::fs::write(home.path().join("s"), "in the way").unwrap();
    let error = one.send(&Address::Session("s".into()), draft("a", "x")).await.unwrap_err();
    assert!(matches!(error, PostError::Refused { .. }), "{error}");
    let said = error.to_string();
    assert!(said.contains("did not take the message") && said.contains("/s/mail"), "{said}");
    assert!(!two.collect(Path::new("/nowhere")).await.is_ok_and(|letters| !letters.is_empty()));
}

#[tokio::test]
async fn l7_5_a_letter_that_is_too_long_is_refused_before_it_is_sent() {
    let home = tempfile::tempdir().unwrap();
    let limits = AgentLimits { message_bytes: 300, ..AgentLimits::default() };
    let post = DiskPost::new(home.path(), Arc::new(SystemClock), limits);
    let sent = post.send(&Address::Everyone, draft("a", &"x".repeat(400))).await;
    assert!(matches!(sent, Err(PostError::TooLong { max: 300, .. })), "{sent:?}");
}

#[tokio::test]
async fn s6_what_is_no_letter_is_put_aside() {
    let home = tempfile::tempdir().unwrap();
    let bob = member(home.path(), "bob");
    let new = home.path().join("teams/crew/mail/bob/new");
    std::fs::create_dir_all(&new).unwrap();
    std::fs::write(new.join("00.json"), "{").unwrap();
    let log = home.path().join("log");
    assert!(bob.collect(&log).await.unwrap().is_empty());
    assert!(bob.collect(&log).await.unwrap().is_empty());
    assert!(home.path().join("teams/crew/mail/bob/bad/00.json").exists());
}

#[cfg(unix)]
#[tokio::test]
async fn s17_only_sockets_of_our_home_are_written_to() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    use std::os::unix::net::UnixListener;
    let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (one, two) = (outside(home.path()), outside(home.path()));
    two.open(&"0192-b".into(), &home.path().join("0192-b")).await.unwrap();
    let run = home.path().join("run");
    let strange = elsewhere.path().join("docker.sock");
    let listener = UnixListener::bind(&strange).unwrap();
    listener.set_nonblocking(true).unwrap();
    symlink(&strange, run.join("link.sock")).unwrap();
    symlink(elsewhere.path(), run.join("dir")).unwrap();
    std::fs::write(run.join("file.sock"), "").unwrap();
    let dotted = run.join("..").join("..").join(elsewhere.path().file_name().unwrap());
    for path in [
        strange.clone(),
        run.join("link.sock"),
        run.join("dir/docker.sock"),
        run.join("file.sock"),
        dotted.join("docker.sock"),
    ] {
        let sent = one.send(&Address::Socket(path.clone()), draft("a", "x")).await;
        assert!(matches!(sent, Err(PostError::Outside { .. })), "{}: {sent:?}", path.display());
    }
    let waits = std::io::ErrorKind::WouldBlock;
    assert_eq!(listener.accept().unwrap_err().kind(), waits, "nobody knocked");
    // A directory that others may write to is nobody's.
    let good = Address::Socket(run.join("0192-b.sock"));
    one.send(&good, draft("a", "x")).await.unwrap();
    std::fs::set_permissions(&run, std::fs::Permissions::from_mode(0o777)).unwrap();
    let sent = one.send(&good, draft("a", "x")).await;
    assert!(matches!(sent, Err(PostError::Outside { .. })), "{sent:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn s17_a_mailbox_that_leads_out_of_our_home_gets_no_letter() {
    let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (ada, bob) = (member(home.path(), "ada"), member(home.path(), "bob"));
    bob.open(&"s2".into(), &home.path().join("s2")).await.unwrap();
    let mail = home.path().join("teams/crew/mail");
    for place in ["bob", "bob/new", "bob/next"] {
        let _ = std::fs::remove_dir_all(&mail);
        let link = mail.join(place);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), &link).unwrap();
        let sent = ada.send(&Address::Name(name("bob")), draft("ada", "x")).await;
        assert!(matches!(sent, Err(PostError::Outside { .. })), "{place}: {sent:?}");
    }
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}
