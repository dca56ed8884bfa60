//! Looking at every memory, ranking them and reading the best (R8, R9): in a
//! new process and in a running one.

use crate::process::everfold;
use crate::table::{Samples, Section, Table, ms, verdict};
use anyhow::{Context, Result, bail};
use everfold_agent::Agent;
use everfold_agent::memory_dirs::MemoryDirs;
use everfold_kernel::ports::{RecallQuery, Urgency};
use everfold_memory_service::HitFilter;
use everfold_memory_store::StoreScope;
use everfold_testkit::TempHome;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 20;
/// Files, the goal in a new process, the goal in a running one.
const SIZES: [(usize, Duration, Duration); 2] = [
    (200, Duration::from_millis(5), Duration::from_millis(5)),
    (10_000, Duration::from_millis(50), Duration::from_millis(10)),
];
/// Words of a memory, and of the language that it is written in.
const WORDS: usize = 160;
const LANGUAGE: usize = 6_000;
pub(crate) const QUERY: &str = "when do we deploy the billing service, and who has to agree to it?";
/// Cards of files that were written just now are not believed.
const SETTLE: Duration = Duration::from_millis(2_500);

/// One look in this process, which is new; prints how long it took.
pub(crate) fn look(home: &str, project: &str) -> Result<()> {
    let memories = dirs(Path::new(home), Path::new(project))?;
    let began = Instant::now();
    let found = memories.service().recall(&query(), HitFilter::WorthShowing)?;
    let took = began.elapsed();
    if found.looked_at == 0 {
        bail!("nothing was found");
    }
    std::io::Write::write_all(&mut std::io::stdout(), took.as_nanos().to_string().as_bytes())?;
    Ok(())
}

pub(crate) fn measure() -> Result<Section> {
    let mut table =
        Table::new(&["what", "first look", "new process", "goal", "running", "goal", "met"]);
    let mut whole = String::new();
    for (files, new_goal, running_goal) in SIZES {
        let place = TempHome::new()?;
        let memories = dirs(&place.home(), &place.project())?;
        write(&memories, files)?;
        std::thread::sleep(SETTLE);
        let first = in_new_process(&place)?;
        let (mut new, mut running, mut program) =
            (Samples::default(), Samples::default(), Samples::default());
        let service = memories.service();
        let prompt = RecallQuery { urgency: Urgency::Prompt, ..query() };
        service.recall(&prompt, HitFilter::WorthShowing)?;
        for _ in 0..RUNS {
            new.add(in_new_process(&place)?);
            let began = Instant::now();
            service.recall(&prompt, HitFilter::WorthShowing)?;
            running.add(began.elapsed());
            program.add(of_program(&place)?);
        }
        let met = new.best() <= new_goal && running.best() <= running_goal;
        let both = |samples: &Samples| format!("{} ({})", ms(samples.best()), ms(samples.median()));
        table.row([
            format!("{files} memories"),
            ms(first),
            both(&new),
            format!("< {}", ms(new_goal)),
            both(&running),
            format!("< {}", ms(running_goal)),
            verdict(met),
        ]);
        let _ = write!(
            whole,
            " `everfold recall` over {files}, from its start to its end: {}.",
            both(&program)
        );
    }
    Ok(Section {
        title: "Recall",
        goal: "scan, rank and read for recall over 10,000 memory files under 50 ms in a new \
               process and under 10 ms in a running one, each file's freshness checked; over 200 \
               files under 5 ms in either (R16).",
        table,
        notes: format!(
            "Memories of some {WORDS} words. Every file is looked at each time (number, size, \
             times), and read only if it differs from its card; the cards are one file beside the \
             store. The first look has no cards yet and makes them. Best of {RUNS} runs, median in \
             brackets.{whole}"
        ),
    })
}

/// What is asked, as a door asks it.
pub(crate) fn query() -> RecallQuery {
    RecallQuery { text: QUERY.to_owned(), ..RecallQuery::default() }
}

/// The memories of a home.
pub(crate) fn dirs(home: &Path, project: &Path) -> Result<MemoryDirs> {
    Ok(Agent::builder(project).home(home).memory_dirs()?)
}

/// Writes memories, and opens the store once, as a session does.
pub(crate) fn write(memories: &MemoryDirs, files: usize) -> Result<()> {
    let dir = memories.dir(StoreScope::Project);
    std::fs::create_dir_all(&dir)?;
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for number in 0..files {
        let mut body = String::new();
        for _ in 0..WORDS {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let _ = write!(body, "{} ", word(usize::try_from(random % LANGUAGE as u64)?));
        }
        let about = if number % 500 == 7 { "how we deploy the billing service" } else { "a thing" };
        let text = format!(
            "---\nname: topic {number}\ndescription: {about}, {}\ntype: project\n---\n{body}\n",
            word(number % LANGUAGE)
        );
        std::fs::write(dir.join(format!("topic-{number:05}.md")), text)?;
    }
    memories.open(StoreScope::Project)?;
    Ok(())
}

/// A word of a language with many.
fn word(number: usize) -> String {
    const PARTS: [&str; 18] = [
        "ka", "lo", "mi", "ren", "tos", "vi", "da", "sun", "pel", "gro", "ne", "bar", "ti", "ful",
        "os", "en", "ra", "wi",
    ];
    let part = |at: usize| PARTS.get(at % PARTS.len()).copied().unwrap_or_default();
    format!("{}{}{}", part(number), part(number / 18), part(number / 324))
}

fn in_new_process(place: &TempHome) -> Result<Duration> {
    let output = Command::new(std::env::current_exe()?)
        .arg("recall-once")
        .args([place.home(), place.project()])
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .context("a process could not be started")?;
    let nanos = String::from_utf8_lossy(&output.stdout).trim().parse::<u64>();
    nanos.map(Duration::from_nanos).context("the process did not say how long it took")
}

/// How long `everfold recall` takes from its start to its end.
pub(crate) fn of_program(place: &TempHome) -> Result<Duration> {
    let mut command = Command::new(everfold()?);
    command
        .env_clear()
        .env("HOME", place.home())
        .env("EVERFOLD_HOME", place.home())
        .current_dir(place.project())
        .args(["recall", QUERY, "--json"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let began = Instant::now();
    if !command.status()?.success() {
        bail!("`everfold recall` failed");
    }
    Ok(began.elapsed())
}
