//! The small form: one server.

use crate::servers::Servers;
use everfold_kernel::limits::FleetLimits;
use everfold_kernel::ports::{
    AgentName, Body, Letter, MailCarrier, TeamChange, TeamHead, TeamPublished, TeamRemote,
};
use everfold_nats::layout::FleetLayout;
use everfold_nats::work::{WorkOutcome, WorkPiece, WorkQueue};
use everfold_nats::{FleetConnection, NatsMail, NatsTeam};
use std::time::Duration;

pub(crate) fn name(text: &str) -> AgentName {
    AgentName::parse(text).unwrap()
}

pub(crate) fn letter(from: &str, id: &str, text: &str) -> Letter {
    Letter {
        id: id.into(),
        from: from.to_owned(),
        seq: 0,
        sent: jiff::Timestamp::UNIX_EPOCH,
        summary: None,
        body: Body::Message { text: text.to_owned() },
        provenance: None,
    }
}

pub(crate) async fn made(
    servers: &Servers,
    limits: &FleetLimits,
    replicas: usize,
) -> FleetConnection {
    made_by(servers.connect(limits).await, replicas).await
}

pub(crate) async fn made_by(fleet: FleetConnection, replicas: usize) -> FleetConnection {
    let layout = FleetLayout::of("crew");
    // A cluster needs a moment until it can say who leads.
    for _ in 0..100 {
        if layout.make(&fleet, replicas).await.is_ok() {
            return fleet;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    layout.make(&fleet, replicas).await.unwrap();
    fleet
}

pub(crate) fn quick() -> FleetLimits {
    FleetLimits { ack_s: 2, connect_s: 2, lease_s: 1, ..FleetLimits::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_letters_come_in_order_once_and_wait_for_their_reader() {
    let Some(servers) = Servers::start(1, "") else { return };
    let fleet = made(&servers, &quick(), 1).await;
    let mail = NatsMail::over(fleet, "crew");
    let (ada, bob) = (name("ada"), name("b.ob"));
    for at in 0..20 {
        let letter = letter("ada", &format!("l{at}"), &format!("number {at}"));
        mail.carry(&bob, &letter).await.unwrap();
        // Who was not told sends it again.
        mail.carry(&bob, &letter).await.unwrap();
    }
    let (mut place, mut read) = (0, Vec::new());
    while let Some(next) = mail.next(&bob, place).await.unwrap() {
        place = next.place;
        read.push((next.letter.id.to_string(), next.letter.from));
    }
    let wanted: Vec<_> = (0..20).map(|at| (format!("l{at}"), "ada".to_owned())).collect();
    assert_eq!(read, wanted);
    assert_eq!(mail.next(&ada, 0).await.unwrap(), None);
    assert_eq!(mail.present().await.unwrap(), []);
    mail.appear(&bob).await.unwrap();
    assert_eq!(mail.present().await.unwrap(), [bob]);
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_a_piece_of_work_has_one_winner_and_a_dead_workers_goes_on() {
    let Some(servers) = Servers::start(1, "") else { return };
    let fleet = made(&servers, &quick(), 1).await;
    let queue = WorkQueue::open(&fleet, "crew").await.unwrap();
    let piece = WorkPiece { kind: "dream".to_owned(), name: "2026-11-16".to_owned() };
    for _ in 0..5 {
        queue.offer(&piece).await.unwrap();
    }
    let dead = queue.take(Duration::from_secs(2)).await.unwrap().unwrap();
    let none = queue.take(Duration::from_millis(300)).await.unwrap();
    assert!(none.is_none(), "it is taken, and was offered once");
    // It says nothing for longer than its lease.
    let next = queue.take(Duration::from_secs(5)).await.unwrap().unwrap();
    for _ in 0..4 {
        tokio::time::sleep(Duration::from_millis(500)).await;
        next.renew().await.unwrap();
    }
    assert!(queue.take(Duration::from_millis(200)).await.unwrap().is_none(), "it is renewed");
    assert_eq!(next.finish().await.unwrap(), WorkOutcome::Won);
    // The one that was thought dead comes back.
    assert_eq!(dead.finish().await.unwrap(), WorkOutcome::DoneBefore);
    assert!(queue.take(Duration::from_millis(300)).await.unwrap().is_none());
}

fn change(path: &str, text: &str) -> TeamChange {
    TeamChange { path: path.to_owned(), content: Some(text.into()) }
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_memories_are_changed_only_by_who_saw_the_last_change() {
    let Some(servers) = Servers::start(1, "") else { return };
    made(&servers, &quick(), 1).await;
    let dirs = [servers.dir.path().join("a"), servers.dir.path().join("b")];
    let login = servers.login();
    let work = move || {
        let patience = Duration::from_secs(20);
        let open =
            |at: usize| NatsTeam::open(&login, &quick(), ("crew", "ada@x"), &dirs[at], patience);
        let (ada, bob) = (open(0).unwrap(), open(1).unwrap());
        assert_eq!(ada.newest().unwrap(), TeamHead::default());
        let on = ada.newest().unwrap();
        let done = ada.publish(&on, &[change("memory/a.md", "one")], "").unwrap();
        assert!(matches!(done, TeamPublished::Done(_)));
        // Bob has not seen it.
        let behind = bob.publish(&on, &[change("memory/a.md", "two")], "").unwrap();
        assert_eq!(behind, TeamPublished::Behind);
        let seen = bob.newest().unwrap();
        let version = seen.files["memory/a.md"].version.clone();
        assert_eq!(bob.contents(&[version]).unwrap(), [b"one".to_vec()]);
        assert_eq!(bob.makers("", &seen, 5).unwrap()[0].name, "ada@x");
        // It goes, and comes back.
        let gone = TeamChange { path: "memory/a.md".to_owned(), content: None };
        assert!(matches!(bob.publish(&seen, &[gone], "").unwrap(), TeamPublished::Done(_)));
        let empty = ada.newest().unwrap();
        assert!(empty.files.is_empty());
        let again = ada.publish(&empty, &[change("memory/a.md", "three")], "").unwrap();
        assert!(matches!(again, TeamPublished::Done(_)));
        // One hot key, two writers: no update is lost.
        std::thread::scope(|both| {
            for team in [&ada, &bob] {
                both.spawn(move || (0..10).for_each(|_| count_up(team)));
            }
        });
        let head = ada.newest().unwrap();
        let version = head.files["memory/count.md"].version.clone();
        assert_eq!(ada.contents(&[version]).unwrap(), [b"20".to_vec()]);
        // A fresh copy finds the same.
        let fresh = NatsTeam::open(&login, &quick(), ("crew", "c"), &dirs[0].join("c"), patience);
        assert_eq!(fresh.unwrap().newest().unwrap().files, head.files);
    };
    tokio::task::spawn_blocking(work).await.unwrap();
}

/// Adds one to what a key holds.
fn count_up(team: &NatsTeam) {
    loop {
        let head = team.newest().unwrap();
        let now = head.files.get("memory/count.md").map_or(0, |file| {
            let bytes = team.contents(std::slice::from_ref(&file.version)).unwrap();
            String::from_utf8_lossy(&bytes[0]).parse::<u64>().unwrap()
        });
        let next = change("memory/count.md", &(now + 1).to_string());
        if let TeamPublished::Done(_) = team.publish(&head, &[next], "").unwrap() {
            return;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_a_full_disk_acknowledges_nothing_that_it_loses() {
    let Some(servers) = Servers::start(1, "max_file_store: 2MB") else { return };
    let fleet = made(&servers, &quick(), 1).await;
    let mail = NatsMail::over(fleet, "crew");
    let (bob, text) = (name("bob"), "x".repeat(100_000));
    let mut taken = Vec::new();
    for at in 0..40 {
        let id = format!("l{at}");
        match mail.carry(&bob, &letter("ada", &id, &text)).await {
            Ok(()) => taken.push(id),
            Err(_) => break,
        }
    }
    assert!((1..40).contains(&taken.len()), "{}", taken.len());
    let (mut place, mut read) = (0, Vec::new());
    while let Some(next) = mail.next(&bob, place).await.unwrap() {
        place = next.place;
        read.push(next.letter.id.to_string());
    }
    assert_eq!(read, taken);
}

/// The permissions that the guide names for the agent `ada`.
pub(crate) fn permissions() -> String {
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/fleet.md");
    let guide = std::fs::read_to_string(guide).unwrap();
    let (_, rest) = guide.split_once("permissions: {").unwrap();
    rest.split_once("}}").unwrap().0.to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn f5_with_the_permissions_of_the_guide_an_agent_does_its_work_and_writes_as_nobody_else() {
    let (boss, own) = (nkeys::KeyPair::new_user(), nkeys::KeyPair::new_user());
    let users = format!(
        "authorization {{ users = [ {{ nkey: {} }}, {{ nkey: {}, permissions: {{ {} }} }} ] }}",
        boss.public_key(),
        own.public_key(),
        permissions()
    );
    let Some(servers) = Servers::with(1, "", &users) else { return };
    made_by(servers.connect_by(&servers.login_as(&boss), &quick()).await, 1).await;
    let login = servers.login_as(&own);
    let fleet = servers.connect_by(&login, &quick()).await;
    let mail = NatsMail::over(fleet.clone(), "crew");
    let (ada, bob) = (name("ada"), name("bob"));
    mail.carry(&bob, &letter("ada", "l1", "as myself")).await.unwrap();
    mail.carry(&bob, &letter("bob", "l2", "as Bob")).await.unwrap_err();
    assert_eq!(mail.next(&bob, 0).await.unwrap().unwrap().letter.from, "ada");
    mail.appear(&ada).await.unwrap();
    mail.appear(&bob).await.unwrap_err();
    assert_eq!(mail.present().await.unwrap(), [ada]);
    let queue = WorkQueue::open(&fleet, "crew").await.unwrap();
    queue.offer(&WorkPiece { kind: "dream".into(), name: "x".into() }).await.unwrap();
    let lease = queue.take(Duration::from_secs(2)).await.unwrap().unwrap();
    lease.renew().await.unwrap();
    assert_eq!(lease.finish().await.unwrap(), WorkOutcome::Won);
    let dir = servers.dir.path().join("ada");
    let shares = move || {
        let patience = Duration::from_secs(20);
        let team = NatsTeam::open(&login, &quick(), ("crew", "ada"), &dir, patience).unwrap();
        let on = team.newest().unwrap();
        let done = team.publish(&on, &[change("memory/a.md", "one")], "").unwrap();
        assert!(matches!(done, TeamPublished::Done(_)));
        assert_eq!(team.newest().unwrap().files.len(), 1);
    };
    tokio::task::spawn_blocking(shares).await.unwrap();
}
