//! From the start of the process to the first byte of its request.

use crate::process::{end, headless};
use crate::table::{Samples, Section, Table, ms, verdict};
use anyhow::{Context, Result};
use everfold_testkit::TempHome;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 30;
const GOAL: Duration = Duration::from_millis(30);
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
    let place = TempHome::new()?;
    let own = std::env::current_exe()?;
    let (mut bare, mut full) = (Samples::default(), Samples::default());
    // By turns, so that both meet the same load.
    for _ in 0..RUNS {
        let mut connect = Command::new(&own);
        connect.env_clear().arg("connect").arg(address.to_string()).stdin(Stdio::null());
        bare.add(first_byte(connect, &listener)?);
        let mut everfold = headless(&place, address)?;
        everfold.arg("hi");
        full.add(first_byte(everfold, &listener)?);
    }
    let more = |full: Duration, bare: Duration| full.saturating_sub(bare);
    let (best, median) = (more(full.best(), bare.best()), more(full.median(), bare.median()));
    let mut table = Table::new(&["process", "best", "median", "goal", "met"]);
    table.row([
        "connects only".into(),
        ms(bare.best()),
        ms(bare.median()),
        String::new(),
        String::new(),
    ]);
    table.row([
        "`everfold -p hi`".into(),
        ms(full.best()),
        ms(full.median()),
        String::new(),
        String::new(),
    ]);
    table.row([
        "more".into(),
        ms(best),
        ms(median),
        format!("≤ {}", ms(GOAL)),
        verdict(median <= GOAL),
    ]);
    Ok(Section {
        title: "Start",
        goal: "from the start of the process to the first byte of the request on loopback, at most \
               30 ms more than a bare TCP connect; release build, empty project.",
        table,
        notes: format!(
            "Time from before the spawn until the listener has a byte, {RUNS} times each, by turns. \
             The bare process is this benchmark's own program, which only connects and writes one byte."
        ),
    })
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
