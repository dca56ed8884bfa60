//! What `fleet doctor` says of servers that are not as they should be.

use crate::servers::Servers;
use crate::small::{made, made_by, permissions, quick};
use everfold_kernel::ports::Clock;
use everfold_nats::FleetConnection;
use everfold_nats::health::{FleetFindingState, examine};
use everfold_nats::layout::FleetLayout;
use jiff::{SignedDuration, Timestamp};
use std::time::{Duration, Instant};

/// A clock that is wrong by so much.
pub(crate) struct Wrong(SignedDuration);

impl Clock for Wrong {
    fn now(&self) -> Timestamp {
        Timestamp::now() + self.0
    }

    fn fresh_uuid(&self) -> String {
        "none".to_owned()
    }
}

pub(crate) const RIGHT: Wrong = Wrong(SignedDuration::ZERO);

struct Said {
    good: Vec<String>,
    bad: Vec<String>,
}

impl Said {
    async fn of(fleet: &FleetConnection, monitor: Option<&str>, clock: &Wrong) -> Self {
        let found = examine(fleet, "crew", monitor, clock).await.unwrap();
        let of = |state| {
            let of = found.iter().filter(|finding| finding.state == state);
            of.map(|finding| finding.text.clone()).collect()
        };
        Self { good: of(FleetFindingState::Good), bad: of(FleetFindingState::Bad) }
    }

    #[track_caller]
    fn is_bad(&self, text: &str) {
        let is_said = self.bad.iter().any(|bad| bad.contains(text));
        assert!(is_said, "{text}: {:?}", self.bad);
    }

    #[track_caller]
    fn is_good(&self, text: &str) {
        let is_said = self.good.iter().any(|good| good.contains(text));
        assert!(is_said, "{text}: {:?}", self.good);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_the_doctor_sees_replicas_the_disk_and_the_clock() {
    let Some(servers) = Servers::start(1, "") else { return };
    let fleet = made(&servers, &quick(), 1).await;
    let monitor = format!("http://127.0.0.1:{}", servers.nodes[0].monitor);
    let said = Said::of(&fleet, Some(&monitor), &RIGHT).await;
    said.is_bad("fewer than 3 replicas of KV_everfold-crew-memory");
    said.is_bad("sync_interval is not always");
    said.is_good("clocks agree");
    assert_eq!(said.bad.len(), 2, "{:?}", said.bad);
    let ahead = Wrong(SignedDuration::from_mins(-5));
    Said::of(&fleet, None, &ahead).await.is_bad("ahead of ours; set both by NTP");
    let behind = Wrong(SignedDuration::from_mins(5));
    Said::of(&fleet, None, &behind).await.is_bad("s behind ours");
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_the_doctor_finds_a_cluster_sound_and_a_server_that_is_gone() {
    let Some(mut servers) = Servers::start(3, "sync_interval: always") else { return };
    // One copy of each is made three by another look.
    let fleet = made(&servers, &quick(), 1).await;
    Said::of(&fleet, None, &RIGHT).await.is_bad("fewer than 3 replicas");
    FleetLayout::of("crew").make(&fleet, 3).await.unwrap();
    let monitor = format!("http://127.0.0.1:{}", servers.nodes[0].monitor);
    let until = Instant::now() + Duration::from_mins(1);
    // Replicas need a moment until they are current.
    let mut said = Said::of(&fleet, Some(&monitor), &RIGHT).await;
    while !said.bad.is_empty() {
        assert!(Instant::now() < until, "{:?}", said.bad);
        tokio::time::sleep(Duration::from_millis(200)).await;
        said = Said::of(&fleet, Some(&monitor), &RIGHT).await;
    }
    said.is_good("sync_interval is always");
    servers.nodes[2].kill();
    while said.bad.is_empty() {
        assert!(Instant::now() < until, "nobody misses it");
        tokio::time::sleep(Duration::from_millis(200)).await;
        said = Said::of(&fleet, Some(&monitor), &RIGHT).await;
    }
    said.is_bad("behind: n2");
}

#[tokio::test(flavor = "multi_thread")]
async fn f5_the_doctor_names_the_permission_that_is_missing() {
    let (boss, own) = (nkeys::KeyPair::new_user(), nkeys::KeyPair::new_user());
    // Everything that the guide names but presence.
    let fewer = permissions().replace("\"$KV.everfold-crew-presence.everfold-doctor\",", "");
    let users = format!(
        "authorization {{ users = [ {{ nkey: {} }}, {{ nkey: {}, permissions: {{ {fewer} }} }} ] }}",
        boss.public_key(),
        own.public_key(),
    );
    let Some(servers) = Servers::with(1, "", &users) else { return };
    made_by(servers.connect_by(&servers.login_as(&boss), &quick()).await, 1).await;
    let fleet = servers.connect_by(&servers.login_as(&own), &quick()).await;
    let said = Said::of(&fleet, None, &RIGHT).await;
    said.is_bad("publish to \"$KV.everfold-crew-presence.everfold-doctor\"");
}
