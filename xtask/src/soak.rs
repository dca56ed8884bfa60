//! `cargo xtask soak`: the full figures that requirements name. They take too
//! long for every change, so their tests are ignored by default; here is the
//! list of them, and each is run by itself and told with its time.

use crate::nats_server;
use anyhow::{Context, Result};
use std::io::Write;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// The package of the program.
const PROGRAM: &str = "everfold-cli";

/// The package that needs servers.
const FLEET: &str = "everfold-nats";

/// One test with a full figure.
struct Figure {
    about: &'static str,
    package: &'static str,
    test: &'static str,
    /// How it has to be built at least, so that it comes to an end.
    least: Profile,
}

const FIGURES: &[Figure] = &[
    Figure {
        about: "every crate that people get, packaged as for a registry",
        package: "everfold",
        test: "k3_every_crate_is_packaged_soak",
        least: Profile::Dev,
    },
    Figure {
        about: "the page in a real Chromium, which has to be there",
        package: "everfold-page",
        test: "w7_a_browser_has_to_be_there_soak",
        least: Profile::Dev,
    },
    Figure {
        about: "the page over 10,000 sessions, 10,000 memories and a session of 1,000,000 tokens",
        package: "everfold-cli",
        test: "w6_ten_thousand_of_each_soak",
        least: Profile::Release,
    },
    Figure {
        about: "the real agents beside us, each with a model on loopback and with its own login",
        package: "everfold-cli",
        test: "x8_the_real_hosts_soak",
        least: Profile::Dev,
    },
    Figure {
        about: "the bill of real sessions, day by day, beside that of ccusage",
        package: "everfold-cli",
        test: "pc10_the_bill_equals_that_of_ccusage_soak",
        least: Profile::Dev,
    },
    Figure {
        about: "what a real model of 1.5 billion parameters keeps of the judged set",
        package: PROGRAM,
        test: "q18_a_local_model_keeps_what_is_worth_it_soak",
        least: Profile::Dev,
    },
    Figure {
        about: "a session of three times a window of 8,192 with a real small model",
        package: PROGRAM,
        test: "q16_three_windows_with_a_local_model_soak",
        least: Profile::Dev,
    },
    Figure {
        about: "50 background agents at once, and the memory that they take",
        package: "everfold-engine",
        test: "l7_4_fifty_background_agents_soak",
        least: Profile::Dev,
    },
    Figure {
        about: "agents that compact while their parent waits, compacts or stops: 1,000 seeds",
        package: "everfold-engine",
        test: "l7_8_a_thousand_seeded_runs_soak",
        least: Profile::Dev,
    },
    Figure {
        about: "letters to an agent that ends: 200,000 interleavings",
        package: "everfold-mail",
        test: "l7_5_no_letter_is_lost_soak",
        least: Profile::Dev,
    },
    Figure {
        about: "background tasks, who stops and who watches them: 200,000 interleavings",
        package: "everfold-engine",
        test: "l6_6_q2_tasks_end_once_soak",
        least: Profile::Dev,
    },
    Figure {
        about: "mailboxes under kill -9 of either side: 200 rounds",
        package: "everfold-mailbox",
        test: "l7_5_kill_9_soak",
        least: Profile::Dev,
    },
    Figure {
        about: "sockets under kill -9 of either side: 200 rounds",
        package: "everfold-mailbox",
        test: "l7_5_kill_9_of_sockets_soak",
        least: Profile::Dev,
    },
    Figure {
        about: "64 processes that want to dream: 200 rounds",
        package: "everfold-memory-store",
        test: "l6_3_soak_of_64_processes_one_wins_in_200_rounds",
        least: Profile::Dev,
    },
    Figure {
        about: "a memory directory shared with another program: 200 rounds",
        package: "everfold-memory-store",
        test: "x5_two_hundred_rounds",
        least: Profile::Dev,
    },
    Figure {
        about: "a team by git: 8 members, 500 changes at once, one away, syncs killed with -9",
        package: PROGRAM,
        test: "f1_team_of_eight_with_500_changes_soak",
        least: Profile::Dev,
    },
    Figure {
        about: "a fleet: 10,000 mailboxes on three servers, a leader killed with -9, one cut off",
        package: FLEET,
        test: "f4_fleet_of_10000_mailboxes_on_three_servers_soak",
        least: Profile::Dev,
    },
    Figure {
        about: "settings and trust records out of any bytes: 50,000 cases each",
        package: "everfold-settings",
        test: "s9_fuzz_of_settings_and_trust_records",
        least: Profile::Dev,
    },
    Figure {
        about: "permission rules under generated spellings, carried out by a real shell: 20,000 cases of each kind",
        package: "everfold-agent",
        test: "s11_fuzz_of_permission_rules",
        least: Profile::Dev,
    },
    Figure {
        about: "mailboxes and sockets with anything in them: 3,000 cases each",
        package: "everfold-mailbox",
        test: "l7_5_fuzz_of_letters",
        least: Profile::Dev,
    },
    Figure {
        about: "what a replay claims, at length",
        package: "everfold-replay",
        test: "pc7_the_claim_at_length",
        least: Profile::Release,
    },
    Figure {
        about: "the scripted sessions of 100 turns and of 60 at full size: what the background takes",
        package: "everfold-engine",
        test: "e6_the_scripted_sessions_at_full_size_soak",
        least: Profile::Dev,
    },
    Figure {
        about: "our policy against real sessions, all that it spends included",
        package: "everfold-replay",
        test: "pc8_our_policy_costs_less_than_what_was_done",
        least: Profile::Release,
    },
];

/// Which tests are run, and how they are built.
pub(crate) struct Wanted {
    /// Only tests whose name contains this.
    pub(crate) name: Option<String>,
    /// How they are built.
    pub(crate) profile: Profile,
}

/// How tests are built.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Profile {
    /// As for every change.
    Dev,
    Release,
}

/// Runs the figures one after another, and tells each. It fails if one does.
pub(crate) fn report(root: &Path, wanted: &Wanted, out: &mut impl Write) -> Result<ExitCode> {
    let fits =
        |figure: &&Figure| wanted.name.as_ref().is_none_or(|name| figure.test.contains(name));
    let mut failed = 0_usize;
    for figure in FIGURES.iter().filter(fits) {
        writeln!(out, "{}\n  {}", figure.test, figure.about)?;
        out.flush()?;
        if figure.package == FLEET {
            nats_server::fetch(&nats_server::place(root), out)?;
        }
        let (outcome, took) = run(root, figure, wanted.profile.max(figure.least))?;
        match outcome {
            Ok(said) => {
                said.iter().try_for_each(|line| writeln!(out, "  {line}"))?;
                writeln!(out, "  passed in {took} s\n")?;
            }
            Err(said) => {
                failed += 1;
                writeln!(out, "{said}\n  FAILED after {took} s\n")?;
            }
        }
    }
    writeln!(out, "soak: {failed} failed")?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What a test printed, or all that was said where it failed; and its seconds.
type Outcome = (Result<Vec<String>, String>, u64);

fn run(root: &Path, figure: &Figure, profile: Profile) -> Result<Outcome> {
    let cargo = |more: &[&str]| {
        let mut command = Command::new("cargo");
        command.current_dir(root).args(["test", "--locked", "--quiet", "--package"]);
        command.arg(figure.package).args(["--test", "it"]);
        // The program has no library of its own.
        if figure.package != PROGRAM {
            command.arg("--lib");
        }
        if let Profile::Release = profile {
            command.arg("--release");
        }
        command.args(more).output().context("cargo cannot be started")
    };
    // Built first, so that the time is the test's own.
    let built = cargo(&["--no-run"])?;
    if !built.status.success() {
        return Ok((Err(String::from_utf8_lossy(&built.stderr).into_owned()), 0));
    }
    let started = Instant::now();
    let ran = cargo(&["--", "--ignored", "--nocapture", figure.test])?;
    let took = started.elapsed().as_secs();
    let text = String::from_utf8_lossy(&ran.stdout);
    let one = text.contains("test result: ok. 1 passed");
    if !ran.status.success() || !one {
        return Ok((Err(format!("{text}{}", String::from_utf8_lossy(&ran.stderr))), took));
    }
    let noise = |line: &&str| {
        !line.trim_matches('.').trim().is_empty()
            && !line.starts_with("running ")
            && !line.starts_with("test result")
    };
    Ok((Ok(text.lines().filter(noise).map(str::to_owned).collect()), took))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    /// A figure that nobody lists is one that nobody runs.
    #[test]
    fn every_full_figure_is_listed_and_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let tree = Tree::read(root).unwrap();
        let sources: Vec<&str> = tree.with_extension("rs").map(|(_, text)| text).collect();
        for figure in FIGURES {
            let name = format!("fn {}(", figure.test);
            assert!(sources.iter().any(|text| text.contains(&name)), "{} is gone", figure.test);
        }
        let marked =
            sources.iter().flat_map(|text| text.split("#[ignore = \"the full figure").skip(1));
        for after in marked.filter(|after| after.contains("\nasync fn ") || after.contains("\nfn "))
        {
            let named = FIGURES.iter().any(|figure| {
                after.split_once("fn ").is_some_and(|(_, rest)| rest.starts_with(figure.test))
            });
            let shown: String = after.chars().take(80).collect();
            assert!(named, "not listed: {shown}");
        }
    }
}
