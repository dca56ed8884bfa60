//! Many members at once: all come to the same memories, nothing is lost, and
//! there is one history, though some are away and some are killed (F1).

use super::{Member, bare, git, memory};
use std::path::Path;
use std::time::{Duration, Instant};

/// Things that facts are about; no two of them have to do with each other.
const THINGS: [&str; 16] = [
    "lobster", "turbine", "ledger", "trumpet", "glacier", "saffron", "compass", "lantern",
    "orchard", "pendulum", "quarry", "satchel", "thimble", "viaduct", "walrus", "zeppelin",
];

/// Longer than `everfold.limits.team.sync_s`.
const SYNC: Duration = Duration::from_secs(150);

struct Crowd {
    members: usize,
    changes: usize,
    /// Every so manyth sync is killed.
    kill: usize,
}

/// The token that one change brings; nothing else has it.
fn token(member: usize, change: usize) -> String {
    format!("{}{member}x{change}", THINGS[(member * 7 + change) % THINGS.len()])
}

/// One change: a memory of its own, a line in one that all write, or something
/// else in place of what it says.
fn change(member: &Member, who: usize, number: usize) {
    let token = token(who, number);
    match number % 5 {
        0 | 1 => member.write(
            &format!("{token}.md"),
            &memory(&token, &format!("The {token} is kept in room {who}{number} of the annex.")),
        ),
        2 | 3 => {
            let file = format!("shared-{}.md", number % 3);
            let there = member.read(&file);
            let line = format!("- {token} belongs to crate {who}{number}.\n");
            let text = if there.is_empty() {
                memory(
                    &file,
                    &format!("Crates and what is in them, list {}.\n\n{line}", number % 3),
                )
            } else {
                format!("{there}{line}")
            };
            member.write(&file, &text);
        }
        _ => {
            let text = format!("The weekly call is held by {token}.");
            member.write("call.md", &memory("Weekly call", &text));
        }
    }
}

fn work(member: &Member, who: usize, crowd: &Crowd, is_away: bool) {
    for number in 0..crowd.changes {
        change(member, who, number);
        if is_away {
            continue;
        }
        let sync = member.start_sync();
        if (number + who) % crowd.kill == crowd.kill - 1 {
            std::thread::sleep(Duration::from_millis((17 * (number as u64 + 1)) % 180));
            sync.kill();
        } else {
            // Being overtaken too often is no error of a crowd; a sync gives up by
            // itself, later than other runs are waited for.
            sync.end_within(SYNC);
        }
    }
}

/// What each change brought is with all, or waits with somebody; says how many wait.
fn nothing_is_lost(members: &[Member], crowd: &Crowd, remote: &Path) -> usize {
    let all: String = members[0].memories().into_values().collect();
    let waiting: String = members.iter().map(Member::inbox).collect();
    let history = git(remote, &["log", "-p", "main", "--", "memory"]);
    let mut asked = 0;
    for who in 0..members.len() {
        for number in 0..crowd.changes {
            let token = token(who, number);
            let is_waiting = waiting.contains(&token);
            asked += usize::from(is_waiting);
            let is_call = number % 5 == 4;
            // A later call of the same member takes the place of an earlier one.
            let is_there =
                all.contains(&token) || is_waiting || is_call && number + 5 < crowd.changes;
            assert!(is_there || history.contains(&token), "{token} is lost");
            assert!(is_there || is_call, "{token} is only in the history");
        }
    }
    asked
}

fn meet(crowd: &Crowd) {
    let dir = tempfile::tempdir().unwrap();
    let remote = bare(dir.path());
    let members: Vec<Member> = (0..crowd.members).map(|_| Member::new()).collect();
    for (who, member) in members.iter().enumerate() {
        if who == 0 { member.init(&remote) } else { member.join(&remote) }
    }
    let started = Instant::now();
    std::thread::scope(|all| {
        for (who, member) in members.iter().enumerate() {
            // The last one is away all day.
            let is_away = who + 1 == crowd.members;
            all.spawn(move || work(member, who, crowd, is_away));
        }
    });
    let took = started.elapsed();
    for member in members.iter().chain(&members) {
        member.sync();
    }
    let first = members[0].memories();
    for member in &members {
        assert_eq!(member.memories(), first, "all have the same");
        let status = member.run(&["team", "status", "--json"]).ok().json();
        assert_eq!(status["unpushed"], 0, "{status}");
    }
    let asked = nothing_is_lost(&members, crowd, &remote);
    assert_eq!(git(&remote, &["rev-list", "--merges", "--count", "main"]), "0", "one history");
    git(&remote, &["fsck", "--strict", "--no-dangling"]);
    let commits = git(&remote, &["rev-list", "--count", "main"]);
    let changes = crowd.members * crowd.changes;
    let figures = format!(
        "{} members, {changes} changes, {commits} commits, {} memories, {asked} wait, {:.1} s",
        crowd.members,
        first.len(),
        took.as_secs_f64()
    );
    // For `cargo xtask soak`, which shows what is printed.
    std::io::Write::write_all(&mut std::io::stdout(), format!("{figures}\n").as_bytes()).unwrap();
}

#[test]
fn f1_a_few_members_converge_though_syncs_are_killed() {
    meet(&Crowd { members: 3, changes: 8, kill: 3 });
}

#[test]
#[ignore = "the full figure: cargo xtask soak"]
fn f1_team_of_eight_with_500_changes_soak() {
    meet(&Crowd { members: 8, changes: 63, kill: 7 });
}
