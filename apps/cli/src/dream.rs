//! `everfold dream` and `/dream`: consolidating memories by hand (L6.6).

use crate::args::{DreamArgs, OutputFormat};
use crate::failure::{FAILED, LOCKED, NOTHING_TO_DO};
use crate::headless::task_fields;
use crate::presenter::{Presenter, TextStyle, grouped};
use crate::setup::{self, ProcessEnv};
use crate::signals::Signals;
use anyhow::Result;
use everfold_agent::engine::memory::dream;
use everfold_agent::engine::memory::dream::{Change, Dreamer, Gates, Mode};
use everfold_agent::engine::{DreamEnd, DreamWish, Dreamt};
use everfold_agent::{CancellationToken, Event, Session, TaskStatus, TaskView};
use everfold_kernel::ports::{Holder, MemoryScope};
use everfold_memory_store::store::FileDiff;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::process::ExitCode;
use tokio::sync::mpsc::unbounded_channel;

/// Dreams, and says what came of it.
pub(crate) async fn run(
    env: &ProcessEnv,
    args: &DreamArgs,
    presenter: &Presenter,
) -> Result<ExitCode> {
    let agent = setup::for_work(env, &args.choices).await?;
    let format = if args.json { OutputFormat::Json } else { args.output_format };
    let wish = DreamWish {
        scope: args.scope.port(),
        gates: if args.force { Gates::Skipped } else { Gates::Kept },
        mode: if args.dry_run { Mode::Show } else { Mode::Apply },
    };
    let watch = match format {
        OutputFormat::Text => Watch::lines(presenter.clone()),
        OutputFormat::Json => Watch::Silent,
        OutputFormat::StreamJson => Watch::Stream,
    };
    let mut session = agent.start();
    let (stop, mut signals) = (CancellationToken::new(), Signals::take()?);
    let end = {
        let dreaming = watched(&mut session, wish, &stop, watch);
        tokio::pin!(dreaming);
        loop {
            tokio::select! {
                end = &mut dreaming => break end?,
                _ = signals.next() => stop.cancel(),
            }
        }
    };
    // What it cost is booked.
    everfold_agent::engine::finish(&mut session).await?;
    agent.shutdown().await;
    match format {
        OutputFormat::Text => show(&end, wish, presenter)?,
        OutputFormat::Json => Presenter::json(&as_json(&end, wish))?,
        OutputFormat::StreamJson => Presenter::json_line(&as_json(&end, wish))?,
    }
    Ok(match end {
        DreamEnd::Done(_) => ExitCode::SUCCESS,
        DreamEnd::Nothing(_) | DreamEnd::Waits(_) => ExitCode::from(NOTHING_TO_DO),
        DreamEnd::Locked(_) => ExitCode::from(LOCKED),
        DreamEnd::Failed(_) | DreamEnd::Stopped => ExitCode::from(FAILED),
    })
}

/// What follows `/dream`; none where it makes no sense.
pub(crate) fn wish(text: &str) -> Option<DreamWish> {
    let mut wish = DreamWish::default();
    for word in text.split_whitespace() {
        match word {
            "--dry-run" => wish.mode = Mode::Show,
            "--force" => wish.gates = Gates::Skipped,
            "team" => wish.scope = MemoryScope::Team,
            _ => return None,
        }
    }
    Some(wish)
}

/// How a dream that runs is shown.
pub(crate) enum Watch {
    /// Line by line, for people.
    Lines {
        presenter: Presenter,
        /// What was said last.
        last: String,
    },
    /// Not at all.
    Silent,
    /// As lines of JSON.
    Stream,
}

impl Watch {
    /// Line by line, for people.
    pub(crate) fn lines(presenter: Presenter) -> Self {
        Self::Lines { presenter, last: String::new() }
    }

    fn event(&mut self, task: &TaskView) -> Result<()> {
        match self {
            Self::Silent => {}
            Self::Stream => {
                let mut value = json!({"type": "system", "subtype": "everfold_task"});
                if let (Some(map), Value::Object(rest)) = (value.as_object_mut(), task_fields(task))
                {
                    map.extend(rest);
                }
                Presenter::json_line(&value)?;
            }
            Self::Lines { presenter, last } => {
                let line = task.lines.back().map(String::as_str).unwrap_or_default();
                let said = format!("{}: {line}", task.phase);
                if task.status == TaskStatus::Running && !line.is_empty() && said != *last {
                    let since = Timestamp::now().duration_since(task.started).as_secs();
                    presenter.note(TextStyle::Dim, &format!("{since:>4} s  {said}"));
                    *last = said;
                }
            }
        }
        Ok(())
    }
}

/// Runs a dream to its end, and shows it meanwhile, unless it is stopped.
pub(crate) async fn watched(
    session: &mut Session,
    wish: DreamWish,
    stop: &CancellationToken,
    mut watch: Watch,
) -> Result<DreamEnd> {
    let (sender, mut events) = unbounded_channel();
    session.watch(sender);
    let mut dreaming = match dream::dream(session, wish).await {
        Ok(dreaming) => dreaming,
        Err(end) => return Ok(end),
    };
    if let Watch::Lines { presenter, .. } = &watch {
        presenter.note(TextStyle::Dim, "dreaming; Ctrl-C stops it and changes nothing");
    }
    let mut asked = false;
    loop {
        tokio::select! {
            biased;
            Some(event) = events.recv() => if let Event::Task(task) = &event {
                watch.event(task)?;
            },
            end = &mut dreaming.end => {
                // A task that was cut off has no more to say.
                return Ok(end.unwrap_or(DreamEnd::Stopped));
            }
            () = stop.cancelled(), if !asked => {
                asked = true;
                let _ = session.background().stop(&dreaming.task);
            }
        }
    }
}

/// Says what came of it.
pub(crate) fn show(end: &DreamEnd, wish: DreamWish, presenter: &Presenter) -> Result<()> {
    match end {
        DreamEnd::Done(dreamt) => done(dreamt, wish, presenter)?,
        DreamEnd::Nothing(why) => {
            presenter.line(&format!("nothing to do: {why}"))?;
            presenter.note(TextStyle::Dim, "--force dreams anyway");
        }
        DreamEnd::Waits(why) => {
            presenter.note(TextStyle::Yellow, &format!("waiting for the team: {why}"));
        }
        DreamEnd::Locked(holder) => {
            presenter.note(TextStyle::Red, &format!("another dream is running: {}", told(holder)));
        }
        DreamEnd::Failed(why) => {
            let text = format!("error: the dream failed; memories are unchanged: {why}");
            presenter.note(TextStyle::Red, &text);
        }
        DreamEnd::Stopped => {
            presenter.note(TextStyle::Yellow, "stopped; memories are unchanged");
        }
    }
    Ok(())
}

fn done(dreamt: &Dreamt, wish: DreamWish, presenter: &Presenter) -> Result<()> {
    let dry = wish.mode == Mode::Show;
    if dry {
        for change in &dreamt.changes {
            presenter.text(&diff(change))?;
        }
    }
    for line in dreamt.report.lines() {
        presenter.line(&line)?;
    }
    let by = match dreamt.by {
        Dreamer::Rules => "by rule, without a model".to_owned(),
        Dreamer::Model | Dreamer::WeakModel => {
            let tokens = dreamt.usage.prompt().0 + dreamt.usage.output;
            format!("{} tokens, ${:.4}", grouped(tokens), dreamt.cost.0)
        }
    };
    let what = if dry { "would be" } else { "done" };
    presenter.line(&format!("{what}: {} ({by})", dreamt.report.summary()))?;
    if let Some(entry) = dreamt.entry {
        presenter.note(TextStyle::Dim, &format!("to undo it: `{}`", undo(dreamt, entry)));
    }
    if !dry && !dreamt.report.proposed.is_empty() {
        presenter.note(TextStyle::Dim, "to review what was proposed: `everfold memory inbox`");
    }
    Ok(())
}

/// Who dreams, and for how long.
fn told(holder: &Holder) -> String {
    let pid = holder.pid.map(|pid| format!("process {pid}"));
    let who = holder.member.clone().or(pid).unwrap_or_else(|| "an unknown process".to_owned());
    match age(holder) {
        Some(seconds) => format!("{who}, for {} min {} s", seconds / 60, seconds % 60),
        None => who,
    }
}

/// The command that takes a dream back.
fn undo(dreamt: &Dreamt, entry: u64) -> String {
    let scope = if dreamt.scope == MemoryScope::Team { " --scope team" } else { "" };
    format!("everfold memory undo {entry}{scope}")
}

fn age(holder: &Holder) -> Option<i64> {
    holder.since.map(|since| Timestamp::now().duration_since(since).as_secs().max(0))
}

fn diff(change: &Change) -> String {
    let Change { path, before, after } = change.clone();
    FileDiff { path, before, after }.unified()
}

fn as_json(end: &DreamEnd, wish: DreamWish) -> Value {
    let dry_run = wish.mode == Mode::Show;
    let plain = |status: &str, why: Option<&str>| json!({"type": "dream", "status": status, "dry_run": dry_run, "reason": why});
    match end {
        DreamEnd::Nothing(why) => plain("nothing", Some(why)),
        DreamEnd::Waits(why) => plain("waiting", Some(why)),
        DreamEnd::Failed(why) => plain("failed", Some(why)),
        DreamEnd::Stopped => plain("stopped", None),
        DreamEnd::Locked(holder) => json!({
            "type": "dream", "status": "locked", "dry_run": dry_run,
            "pid": holder.pid, "member": holder.member, "since": holder.since, "age_s": age(holder),
        }),
        DreamEnd::Done(dreamt) => json!({
            "type": "dream", "status": "done", "dry_run": dry_run,
            "dreamer": match dreamt.by { Dreamer::Rules => "rules", Dreamer::Model => "model", Dreamer::WeakModel => "weak model" },
            "entry": dreamt.entry,
            "undo": dreamt.entry.map(|entry| undo(dreamt, entry)),
            "summary": dreamt.report.summary(),
            "report": dreamt.report,
            "changes": dreamt.changes.iter().map(|change| {
                json!({"path": change.path, "diff": diff(change)})
            }).collect::<Vec<_>>(),
            "tokens": dreamt.usage.prompt().0 + dreamt.usage.output,
            "total_cost_usd": dreamt.cost.0,
        }),
    }
}
