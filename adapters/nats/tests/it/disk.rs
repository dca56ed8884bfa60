//! A disk that is full (F4): what is acknowledged is there, and once there is
//! room again everything goes on.

use crate::doctor::RIGHT;
use crate::servers::Servers;
use crate::small::{letter, made, name, quick};
use everfold_kernel::ports::{AgentName, MailCarrier};
use everfold_nats::NatsMail;
use everfold_nats::health::examine;
use everfold_nats::layout::FleetLayout;
use std::time::{Duration, Instant};

/// A server takes three quarters of its disk, unless told that it has more; only
/// so the disk itself is full.
const AMPLE: &str = "sync_interval: always\n max_file_store: 1GB";
/// Bytes of one letter.
const LETTER: usize = 100_000;

/// Sends letters one after another; the names of those that were acknowledged.
async fn send(mail: &NatsMail, to: &AgentName, names: impl Iterator<Item = usize>) -> Vec<String> {
    let (mut taken, text) = (Vec::new(), "x".repeat(LETTER));
    for at in names {
        let id = format!("l{at}");
        if mail.carry(to, &letter("ada", &id, &text)).await.is_ok() {
            taken.push(id);
        }
    }
    taken
}

async fn read(mail: &NatsMail, own: &AgentName) -> Vec<String> {
    let (mut place, mut read) = (0, Vec::new());
    let until = Instant::now() + Duration::from_mins(1);
    loop {
        match mail.next(own, place).await {
            Ok(Some(next)) => {
                place = next.place;
                read.push(next.letter.id.to_string());
            }
            Ok(None) => return read,
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
    }
}

/// Those that were acknowledged, in their order; one whose acknowledgement did
/// not come may be there, too.
#[track_caller]
fn holds(read: &[String], taken: &[String]) {
    let mut once = read.to_vec();
    once.dedup();
    assert_eq!(once, read, "each once");
    let found: Vec<&String> = read.iter().filter(|id| taken.contains(id)).collect();
    assert_eq!(found, taken.iter().collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn f4_a_full_disk_acknowledges_nothing_that_is_lost() {
    let Some(mut servers) = Servers::on_disks(&[Some(4)], AMPLE, "") else {
        return;
    };
    let fleet = made(&servers, &quick(), 1).await;
    let (mail, bob) = (NatsMail::over(fleet, "crew"), name("bob"));
    let mut taken = Vec::new();
    for at in 0..60 {
        let more = send(&mail, &bob, at..=at).await;
        if more.is_empty() {
            break;
        }
        taken.extend(more);
    }
    assert!((1..60).contains(&taken.len()), "{}", taken.len());
    assert!(servers.disks[0].free() < 200, "{} kB are free", servers.disks[0].free());
    // Room again, and a server that was killed while there was none.
    servers.nodes[0].kill();
    servers.disks[0].resize(64);
    servers.nodes[0].start();
    let until = Instant::now() + Duration::from_mins(1);
    while send(&mail, &bob, 100..=100).await.is_empty() {
        assert!(Instant::now() < until, "it does not go on");
    }
    taken.push("l100".to_owned());
    holds(&read(&mail, &bob).await, &taken);
}

#[tokio::test(flavor = "multi_thread")]
async fn f4_one_full_disk_of_three_loses_nothing() {
    let disks = [Some(8), None, None];
    let Some(mut servers) = Servers::on_disks(&disks, AMPLE, "") else {
        return;
    };
    let fleet = made(&servers, &quick(), 3).await;
    let (mail, bob) = (NatsMail::over(fleet.clone(), "crew"), name("bob"));
    let taken = send(&mail, &bob, 0..200).await;
    // What two of three have is acknowledged, however the third is.
    assert!(taken.len() > 150, "{} of 200 were taken", taken.len());
    assert!(servers.disks[0].free() < 200, "{} kB are free", servers.disks[0].free());
    holds(&read(&mail, &bob).await, &taken);
    let found = examine(&fleet, "crew", None, &RIGHT).await.unwrap();
    let behind = found.iter().any(|finding| finding.text.contains("behind: n0"));
    assert!(behind, "the doctor sees it: {found:?}");
    servers.nodes[0].kill();
    servers.disks[0].resize(256);
    servers.nodes[0].start();
    let stream = FleetLayout::of("crew").mail();
    let until = Instant::now() + Duration::from_mins(1);
    while fleet.leader(&stream).await.is_err() {
        assert!(Instant::now() < until, "nobody leads");
    }
    let more = send(&mail, &bob, 200..210).await;
    assert_eq!(more.len(), 10);
    holds(&read(&mail, &bob).await, &[taken, more].concat());
}
