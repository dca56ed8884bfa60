//! From the start of the process to the first byte of its request.

use crate::process::{end, everfold, headless};
use crate::table::{Samples, Section, Table, ms, verdict};
use anyhow::{Context, Result, ensure};
use everfold_testkit::TempHome;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 30;
const GOAL: Duration = Duration::from_millis(30);
/// Rule files of the repository.
const RULES: usize = 50;
/// How long a first byte is waited for.
const WAIT: Duration = Duration::from_secs(10);

/// What is compared with: a process that connects, sends a byte, and ends.
pub(crate) fn connect(address: &str) -> Result<()> {
    TcpStream::connect(address)?.write_all(b"x")?;
    Ok(())
}

pub(crate) fn measure() -> Result<Section> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port on loopback")?;
    let address = listener.local_addr()?;
    let (place, ruled) = (TempHome::new()?, trusted()?);
    let own = std::env::current_exe()?;
    let [mut bare, mut full, mut with_rules] = std::array::from_fn(|_| Samples::default());
    // By turns, so that both meet the same load.
    for _ in 0..RUNS {
        let mut connect = Command::new(&own);
        connect.env_clear().arg("connect").arg(address.to_string()).stdin(Stdio::null());
        bare.add(first_byte(connect, &listener)?);
        let mut everfold = headless(&place, address)?;
        everfold.arg("hi");
        full.add(first_byte(everfold, &listener)?);
        let mut everfold = headless(&ruled, address)?;
        everfold.arg("hi");
        with_rules.add(first_byte(everfold, &listener)?);
    }
    let mut table = Table::new(&["process", "best", "median", "goal", "met"]);
    table.row([
        "connects only".into(),
        ms(bare.best()),
        ms(bare.median()),
        String::new(),
        String::new(),
    ]);
    for (name, samples) in [
        ("`everfold -p hi`", &full),
        ("the same in a trusted repository of 50 rule files", &with_rules),
    ] {
        let more = samples.median().saturating_sub(bare.median());
        table.row([
            name.into(),
            ms(samples.best()),
            ms(samples.median()),
            String::new(),
            String::new(),
        ]);
        table.row([
            "more than connecting".into(),
            ms(samples.best().saturating_sub(bare.best())),
            ms(more),
            format!("≤ {}", ms(GOAL)),
            verdict(more <= GOAL),
        ]);
    }
    Ok(Section {
        title: "Start",
        goal: "from the start of the process to the first byte of the request on loopback, at most \
               30 ms more than a bare TCP connect; release build, in an empty project and in a \
               trusted repository of 50 rule files.",
        table,
        notes: format!(
            "Time from before the spawn until the listener has a byte, {RUNS} times each, by turns. \
             The bare process is this benchmark's own program, which only connects and writes one \
             byte. The repository has 50 files in `.claude/rules`, half of them for some paths only, \
             hooks and permission rules in its settings, and `everfold trust` was said for it."
        ),
    })
}

/// A repository with rules, and with settings that act, which a person trusts.
fn trusted() -> Result<TempHome> {
    let place = TempHome::new()?;
    let rules = place.project().join(".claude/rules");
    for number in 0..RULES {
        let paths = if number % 2 == 0 { "---\npaths: src/**/*.ts\n---\n\n" } else { "" };
        let text =
            "Write it as the code beside it is written, with a test that sees it.\n".repeat(20);
        place.write(rules.join(format!("rule-{number}.md")), &format!("{paths}{text}"))?;
    }
    let settings = r#"{"permissions": {"allow": ["Bash(make test)"]},
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./tools/done.sh"}]}]}}"#;
    place.write(place.project().join(".claude/settings.json"), settings)?;
    place.write(place.project().join("tools/done.sh"), "#!/bin/sh\ntrue\n")?;
    let mut command = Command::new(everfold()?);
    command.env_clear().env("HOME", place.home()).env("EVERFOLD_HOME", place.home());
    let done = command.current_dir(place.project()).args(["trust"]).output()?;
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    ensure!(done.status.success(), "everfold trust: {said}");
    Ok(place)
}

/// The time from before a process is started until a byte of it is here.
pub(crate) fn first_byte(mut command: Command, listener: &TcpListener) -> Result<Duration> {
    let began = Instant::now();
    let child = command.spawn().context("a process could not be started")?;
    let (mut stream, _) = listener.accept()?;
    stream.set_read_timeout(Some(WAIT))?;
    let mut byte = [0];
    stream.read_exact(&mut byte).context("no byte came")?;
    let took = began.elapsed();
    end(child)?;
    Ok(took)
}
