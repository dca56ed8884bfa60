//! The whole figure (F4): three servers, 10,000 mailboxes, a leader killed with
//! -9, a server cut off and back, 64 workers. All that was acknowledged is there
//! at the end, once and in order.

use crate::servers::Servers;
use crate::small::{letter, made, name};
use everfold_kernel::limits::FleetLimits;
use everfold_kernel::ports::MailCarrier;
use everfold_nats::layout::FleetLayout;
use everfold_nats::work::{WorkOutcome, WorkPiece, WorkQueue};
use everfold_nats::{FleetConnection, NatsMail};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

struct Crowd {
    mailboxes: usize,
    letters: usize,
    senders: usize,
    pieces: usize,
    workers: usize,
}

/// What was acknowledged, and when.
#[derive(Default)]
struct Sent {
    next: AtomicUsize,
    acks: Mutex<Vec<Instant>>,
}

/// Sends letters until all are acknowledged; the order is by mailbox.
async fn send(fleet: FleetConnection, crowd: &Crowd, sent: &Sent, own: usize) {
    let mail = NatsMail::over(fleet, "crew");
    loop {
        let mailbox = sent.next.fetch_add(1, Ordering::SeqCst);
        if mailbox >= crowd.mailboxes {
            return;
        }
        let to = name(&format!("agent-{mailbox}"));
        for at in 0..crowd.letters {
            let id = format!("{mailbox}-{at}");
            let letter = letter(&format!("sender-{own}"), &id, &"x".repeat(1000));
            while mail.carry(&to, &letter).await.is_err() {}
            sent.acks.lock().await.push(Instant::now());
        }
    }
}

/// Kills the leader of the mail, then cuts another off, while letters are sent.
async fn trouble(servers: &mut Servers, fleet: &FleetConnection, sent: &Sent, crowd: &Crowd) {
    let reached = |share: f64| {
        let at = (crowd.mailboxes as f64 * share) as usize;
        async move {
            while sent.next.load(Ordering::SeqCst) < at {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    };
    reached(0.3).await;
    let leader = fleet.leader(&FleetLayout::of("crew").mail()).await.unwrap();
    let at = servers.nodes.iter().position(|node| node.name == leader).unwrap();
    servers.nodes[at].kill();
    reached(0.5).await;
    servers.nodes[at].start();
    reached(0.7).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let other = (at + 1) % servers.nodes.len();
    servers.nodes[other].signal("-STOP");
    tokio::time::sleep(Duration::from_secs(4)).await;
    servers.nodes[other].signal("-CONT");
}

/// Reads a mailbox by a place that is kept here.
async fn read(mail: &NatsMail, mailbox: usize) -> Vec<String> {
    let (own, mut place, mut read) = (name(&format!("agent-{mailbox}")), 0, Vec::new());
    loop {
        match mail.next(&own, place).await {
            Ok(Some(next)) => {
                place = next.place;
                read.push(next.letter.id.to_string());
            }
            Ok(None) => return read,
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn all_work(fleet: &FleetConnection, crowd: &Crowd) -> (usize, usize) {
    let queue = WorkQueue::open(fleet, "crew").await.unwrap();
    for at in 0..crowd.pieces {
        queue.offer(&WorkPiece { kind: "dream".into(), name: at.to_string() }).await.unwrap();
    }
    let won: Arc<Mutex<BTreeMap<String, usize>>> = Arc::default();
    let dropped = Arc::new(AtomicUsize::new(0));
    let mut tasks = Vec::new();
    for worker in 0..crowd.workers {
        let (queue, won, dropped) = (queue.clone(), Arc::clone(&won), Arc::clone(&dropped));
        let pieces = crowd.pieces;
        tasks.push(tokio::spawn(async move {
            let mut done = 0;
            while won.lock().await.len() < pieces {
                let Ok(Some(lease)) = queue.take(Duration::from_millis(500)).await else {
                    continue;
                };
                // Every eighth worker dies with its first piece in its hands.
                if worker % 8 == 0 && done == 0 {
                    dropped.fetch_add(1, Ordering::SeqCst);
                    return;
                }
                done += 1;
                let piece = lease.piece.name.clone();
                if let Ok(WorkOutcome::Won) = lease.finish().await {
                    *won.lock().await.entry(piece).or_default() += 1;
                }
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let won = won.lock().await;
    assert!(won.values().all(|winners| *winners == 1), "one winner for each");
    (won.len(), dropped.load(Ordering::SeqCst))
}

/// Reads every mailbox, and holds it to what was sent.
async fn read_all(fleet: &FleetConnection, crowd: &Arc<Crowd>) {
    let mail = Arc::new(NatsMail::over(fleet.clone(), "crew"));
    let next = Arc::new(AtomicUsize::new(0));
    let mut readers = Vec::new();
    for _ in 0..crowd.senders {
        let (mail, next, crowd) = (Arc::clone(&mail), Arc::clone(&next), Arc::clone(crowd));
        readers.push(tokio::spawn(async move {
            loop {
                let mailbox = next.fetch_add(1, Ordering::SeqCst);
                if mailbox >= crowd.mailboxes {
                    return;
                }
                let wanted: Vec<_> =
                    (0..crowd.letters).map(|at| format!("{mailbox}-{at}")).collect();
                assert_eq!(read(&mail, mailbox).await, wanted, "each once and in order");
            }
        }));
    }
    for reader in readers {
        reader.await.unwrap();
    }
}

async fn meet(crowd: Crowd) {
    let Some(mut servers) = Servers::start(3, "sync_interval: always") else { return };
    let limits = FleetLimits { ack_s: 3, connect_s: 2, lease_s: 3, ..FleetLimits::default() };
    let fleet = made(&servers, &limits, 3).await;
    let (crowd, sent) = (Arc::new(crowd), Arc::new(Sent::default()));
    let started = Instant::now();
    let mut senders = Vec::new();
    for own in 0..crowd.senders {
        let (fleet, crowd, sent) = (fleet.clone(), Arc::clone(&crowd), Arc::clone(&sent));
        senders.push(tokio::spawn(async move { send(fleet, &crowd, &sent, own).await }));
    }
    trouble(&mut servers, &fleet, &sent, &crowd).await;
    for sender in senders {
        sender.await.unwrap();
    }
    let took = started.elapsed();
    let mut acks = sent.acks.lock().await.clone();
    acks.sort();
    let gap = acks.windows(2).map(|two| two[1] - two[0]).max().unwrap_or_default();
    assert_eq!(acks.len(), crowd.mailboxes * crowd.letters);
    // Copies that were behind come to the same.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let reading = Instant::now();
    read_all(&fleet, &crowd).await;
    let read = reading.elapsed();
    let (pieces, dead) = all_work(&fleet, &crowd).await;
    assert_eq!(pieces, crowd.pieces);
    let letters = acks.len() as f64;
    let memory: Vec<String> =
        servers.nodes.iter().map(|node| node.megabytes().to_string()).collect();
    println!(
        "{} mailboxes, {letters} letters acknowledged in {:.1} s ({:.0} a second, longest gap {:.1} s), \
         read in {:.1} s ({:.0} a second); {pieces} pieces of work, {} workers, {dead} died, one \
         winner each; {} MB a node",
        crowd.mailboxes,
        took.as_secs_f64(),
        letters / took.as_secs_f64(),
        gap.as_secs_f64(),
        read.as_secs_f64(),
        (letters + crowd.mailboxes as f64) / read.as_secs_f64(),
        crowd.workers,
        memory.join(", ")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn f4_a_few_mailboxes_survive_the_loss_of_a_leader() {
    let crowd = Crowd { mailboxes: 300, letters: 2, senders: 8, pieces: 20, workers: 16 };
    meet(crowd).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "the full figure: cargo xtask soak"]
async fn f4_fleet_of_10000_mailboxes_on_three_servers_soak() {
    let crowd = Crowd { mailboxes: 10_000, letters: 2, senders: 64, pieces: 500, workers: 64 };
    meet(crowd).await;
}
