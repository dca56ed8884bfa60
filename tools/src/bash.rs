//! Bash: a command in a shell, to its end or in the background.
//!
//! The working directory carries over from call to call, but never out of the
//! session's directories. What is said about a command (exit code, time-out)
//! stands before its output: a long output may be put aside, and only its
//! start would be seen.

use everfold_kernel::ports::{
    Exit, FileKind, JobInfo, RunEnd, ShellCommand, ShellError, ShellOutput,
};
use everfold_kernel::provenance::Source;
use everfold_kernel::{Class, Classify};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::built_in::BuiltIn;
use crate::failure::Failure;
use crate::input::{self, Filled, InputError};
use crate::outcome::BackgroundWork;
use crate::{Access, ToolCall, ToolContext, ToolOutput};

const NAME: &str = "Bash";

/// Runs commands.
pub(crate) struct Bash;

#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Input<'a> {
    /// The command
    #[serde(borrow)]
    command: Filled<'a>,
    /// Longest time to run, in milliseconds
    #[schemars(range(min = 1))]
    timeout: Option<u64>,
    /// What it is for, in a few words for the person
    #[serde(rename = "description")]
    _description: Option<&'a str>,
    /// Do not wait for its end
    run_in_background: Option<bool>,
}

/// Why a command was not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BashError {
    #[error(transparent)]
    Input(#[from] InputError),
    #[error(transparent)]
    Shell(ShellError),
    #[error(
        "the working directory {} is gone, so the command was not run; it is {} now. Run the \
         command again if that suits it",
        gone.display(),
        now.display()
    )]
    DirectoryGone { gone: PathBuf, now: PathBuf },
}

impl Classify for BashError {
    fn class(&self) -> Class {
        match self {
            Self::Shell(error) => error.class(),
            _ => Class::Refuse,
        }
    }
}

impl Failure for BashError {}

struct Arguments<'a> {
    command: &'a str,
    timeout: Duration,
    background: bool,
}

impl BuiltIn for Bash {
    const NAME: &'static str = NAME;
    const ABOUT: &'static str = "\
         Runs a command in a shell and gives its output and exit code. The working directory is \
         kept from call to call; variables are not. Nothing can be typed in. It ends after \
         timeout milliseconds (there is a default). With run_in_background it goes on, its \
         output goes to a file, and you are told when it ends. For files use Read, Edit, Write, \
         Glob and Grep.";
    type Input = Input<'static>;
    type Error = BashError;

    fn access(input: &Value, context: &ToolContext) -> Access {
        parse(input, context)
            .map_or(Access::Nothing, |arguments| Access::Execute(arguments.command.to_owned()))
    }

    async fn run(call: &ToolCall, context: &ToolContext) -> Result<ToolOutput, BashError> {
        let arguments = parse(&call.input, context)?;
        let command = ShellCommand {
            command: with_variables(context, arguments.command).await,
            cwd: context.cwd(),
            timeout: (!arguments.background).then_some(arguments.timeout),
            output_bytes: context.limits.shell_output_bytes,
            confinement: context.confinement_now().await.map_err(BashError::Shell)?,
        };
        if arguments.background {
            return start(context, command).await;
        }
        let cwd = command.cwd.clone();
        let watch = context.running.begin(&call.id, context.job_file());
        match context.world.shell.run_watched(command, &watch).await {
            Ok(RunEnd::Ended(output)) => {
                let moved = follow(context, output.cwd.clone()).await;
                Ok(report(&output, arguments.timeout, moved))
            }
            Ok(RunEnd::WentOn(job)) => {
                let printed = context.running.printed(&call.id).unwrap_or_default();
                Ok(sent_away(context, job, &printed))
            }
            Err(error) => Err(failed(context, &cwd, error).await),
        }
    }
}

fn parse<'a>(input: &'a Value, context: &ToolContext) -> Result<Arguments<'a>, BashError> {
    let Input { command, timeout, run_in_background, .. } = input::read(NAME, input)?;
    let limits = &context.limits;
    let timeout = timeout.filter(|timeout| *timeout > 0).unwrap_or(limits.shell_timeout_ms);
    Ok(Arguments {
        command: command.get(),
        timeout: Duration::from_millis(timeout.min(limits.shell_timeout_max_ms)),
        background: run_in_background.unwrap_or_default(),
    })
}

/// The command with the variables that hooks left for it. Permissions were
/// decided by the command alone: the file is the person's own doing.
async fn with_variables(context: &ToolContext, command: &str) -> String {
    let path = &context.env_file;
    let left = context.world.files.stat(path).await.is_ok_and(|stat| stat.bytes > 0);
    if !left {
        return command.to_owned();
    }
    let quoted = path.display().to_string().replace('\'', "'\\''");
    format!(". '{quoted}'\n{command}")
}

/// Goes where the command went, or back to the start where that is outside of
/// the session's directories; then the answer says so.
async fn follow(context: &ToolContext, cwd: Option<PathBuf>) -> Option<String> {
    let cwd = cwd?;
    if inside(context, &cwd).await {
        context.set_cwd(cwd);
        return None;
    }
    let home = context.roots.first()?;
    context.set_cwd(home.clone());
    Some(format!(
        "The working directory is {} again: {} is outside of this session's directories.",
        home.display(),
        cwd.display()
    ))
}

async fn inside(context: &ToolContext, cwd: &Path) -> bool {
    let real = context.world.files.resolve(cwd).await;
    for root in &context.roots {
        // A root may itself be named by a link.
        if real.starts_with(root) || real.starts_with(context.world.files.resolve(root).await) {
            return true;
        }
    }
    false
}

fn report(output: &ShellOutput, timeout: Duration, moved: Option<String>) -> ToolOutput {
    let mut parts = Vec::new();
    match output.exit {
        Exit::Code(0) => {}
        Exit::Code(code) => parts.push(format!("Exit code {code}")),
        Exit::Signal(signal) => parts.push(format!("Ended by signal {signal}")),
        Exit::TimedOut => parts.push(format!(
            "Ended after {} ms because it ran too long; give a higher timeout, or set \
             run_in_background",
            timeout.as_millis()
        )),
    }
    parts.extend(moved);
    if output.dropped_bytes > 0 {
        parts.push(format!(
            "[{} bytes were dropped from the middle of the output]",
            output.dropped_bytes
        ));
    }
    let text = output.text.trim_end();
    if !text.is_empty() {
        parts.push(text.to_owned());
    } else if output.exit == Exit::Code(0) {
        parts.push("The command completed with no output.".to_owned());
    } else {
        parts.push("There was no output.".to_owned());
    }
    let text = parts.join("\n");
    if output.exit != Exit::Code(0) {
        return ToolOutput::error(text);
    }
    ToolOutput::text(Source::Command, text).with_structured(structured(&output.text))
}

async fn failed(context: &ToolContext, cwd: &Path, error: ShellError) -> BashError {
    let stat = context.world.files.stat(cwd).await;
    let gone = !stat.is_ok_and(|stat| stat.kind == FileKind::Directory);
    // A directory that was removed would fail every command from here on.
    if gone && let Some(home) = context.roots.first().filter(|home| *home != cwd) {
        context.set_cwd(home.clone());
        return BashError::DirectoryGone { gone: cwd.to_owned(), now: home.clone() };
    }
    BashError::Shell(error)
}

async fn start(context: &ToolContext, command: ShellCommand) -> Result<ToolOutput, BashError> {
    let cwd = command.cwd.clone();
    let job = match context.world.shell.start(command, context.job_file()).await {
        Ok(job) => job,
        Err(error) => return Err(failed(context, &cwd, error).await),
    };
    context.started_job(job.id.clone());
    let text = format!(
        "Started in the background as {id}, process group {pid}. Its output goes to {path}: \
         use Read to see it. To stop it, run: kill -- -{pid}. You are told when it ends.",
        id = job.id,
        pid = job.pid,
        path = job.output.display(),
    );
    Ok(ToolOutput::text(Source::Command, text)
        .with_structured(structured(""))
        .in_background(BackgroundWork::Command { id: job.id }))
}

/// The person sent a command to the background (U5).
fn sent_away(context: &ToolContext, job: JobInfo, printed: &str) -> ToolOutput {
    context.started_job(job.id.clone());
    let text = format!(
        "The person sent this command to the background as {id}, process group {pid}. It still \
         runs; its output goes to {path}: use Read to see it. You are told when it ends.\n\
         It had printed:\n{printed}",
        id = job.id,
        pid = job.pid,
        path = job.output.display(),
        printed = printed.trim_end(),
    );
    ToolOutput::text(Source::Command, text)
        .with_structured(structured(printed))
        .in_background(BackgroundWork::Command { id: job.id })
}

fn structured(stdout: &str) -> Value {
    json!({
        "stdout": stdout,
        "stderr": "",
        "interrupted": false,
        "isImage": false,
        "noOutputExpected": false,
    })
}
