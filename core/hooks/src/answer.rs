//! What one handler says, by its exit code and what it printed.

use crate::event::{Blocking, HookEvent};
use crate::side_requests::SideRequests;
use serde_json::Value;
use std::time::Duration;

/// A handler that has run, or could not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    pub ended: HandlerExit,
    /// What it printed; the body of the answer of a server.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
}

/// How a handler ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HandlerExit {
    /// By itself. A server's answer in the 200s is 0.
    Code(i32),
    Signal(i32),
    /// It took too long and was ended.
    TimedOut,
    /// It could not be run at all, and why.
    NotRun(String),
}

/// What one handler says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HandlerAnswer {
    /// Whether it goes along.
    pub fate: HandlerFate,
    /// Text for the model.
    pub context: Option<String>,
    /// Text for the person.
    pub message: Option<String>,
    /// Everything is to stop, and why.
    pub stop: Option<String>,
    /// What it says of a call.
    pub permission: Option<(Permission, String)>,
    /// Other arguments for the call.
    pub input: Option<Value>,
    /// What the model is to see instead of the tool's output.
    pub output: Option<Value>,
    /// What the conversation is to be called.
    pub title: Option<String>,
    /// What is said before the person's first words.
    pub first_words: Option<String>,
    /// What it wants besides.
    pub wanted: SideRequests,
}

/// Whether a handler goes along.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum HandlerFate {
    #[default]
    Passed,
    /// It does not, and why.
    Blocked(String),
    /// It has no say: it failed.
    Failed(String),
}

/// What a handler says of a call. The strictest of several holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// It needs no question.
    Allow,
    /// The person is asked.
    Ask,
    /// It may not run.
    Deny,
}

/// The exit code by which a handler blocks.
const BLOCK: i32 = 2;
/// Characters of a complaint that a failure is told by.
const COMPLAINT_CHARS: usize = 300;

impl HandlerAnswer {
    /// Reads what a handler said. Whatever it did, there is an answer.
    #[must_use]
    pub fn read(event: HookEvent, ran: &Ran) -> Self {
        let failed = |why: String| Self { fate: HandlerFate::Failed(why), ..Self::default() };
        match &ran.ended {
            HandlerExit::Code(0) => Self::of_output(event, ran.stdout.trim()),
            HandlerExit::Code(BLOCK) => match event.blocking() {
                Blocking::Ignored => Self::default(),
                _ => Self { fate: HandlerFate::Blocked(reason(&ran.stderr)), ..Self::default() },
            },
            HandlerExit::Code(code) => {
                failed(format!("exit code {code}{}", complaint(&ran.stderr)))
            }
            HandlerExit::Signal(signal) => {
                failed(format!("it was killed by signal {signal}{}", complaint(&ran.stderr)))
            }
            HandlerExit::TimedOut => failed("it timed out and was stopped".to_owned()),
            HandlerExit::NotRun(why) => failed(why.clone()),
        }
    }

    fn of_output(event: HookEvent, stdout: &str) -> Self {
        if !stdout.starts_with('{') {
            if event == HookEvent::WorktreeCreate {
                return Self { wanted: SideRequests::place(stdout), ..Self::default() };
            }
            let context =
                (event.takes_plain_context() && !stdout.is_empty()).then(|| stdout.to_owned());
            return Self { context, ..Self::default() };
        }
        match serde_json::from_str::<Value>(stdout) {
            Ok(value) => Self::of_json(event, &value),
            Err(error) => {
                let why = format!("its output starts like JSON but is not valid: {error}");
                Self { fate: HandlerFate::Failed(why), ..Self::default() }
            }
        }
    }

    fn of_json(event: HookEvent, value: &Value) -> Self {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let own = value.get("hookSpecificOutput");
        let of_own = |key: &str| own.and_then(|own| own.get(key)).filter(|value| !value.is_null());
        let blocks = value.get("decision").and_then(Value::as_str) == Some("block")
            && event.blocking() != Blocking::Ignored;
        let fate = if blocks {
            HandlerFate::Blocked(reason(&text(value.get("reason")).unwrap_or_default()))
        } else {
            HandlerFate::Passed
        };
        let stops = value.get("continue").and_then(Value::as_bool) == Some(false);
        let about_call = event == HookEvent::PreToolUse;
        let after_call = event == HookEvent::PostToolUse;
        let mut answer = Self {
            fate,
            context: text(of_own("additionalContext"))
                .filter(|text| event.takes_context() && !text.trim().is_empty()),
            message: text(value.get("systemMessage")).filter(|text| !text.trim().is_empty()),
            stop: stops.then(|| reason(&text(value.get("stopReason")).unwrap_or_default())),
            permission: text(of_own("permissionDecision"))
                .filter(|_| about_call)
                .and_then(|decision| permission(&decision))
                .map(|decision| {
                    (
                        decision,
                        reason(&text(of_own("permissionDecisionReason")).unwrap_or_default()),
                    )
                }),
            input: of_own("updatedInput").filter(|v| about_call && v.is_object()).cloned(),
            output: of_own("updatedToolOutput")
                .or_else(|| of_own("updatedMCPToolOutput"))
                .filter(|_| after_call)
                .cloned(),
            title: text(of_own("sessionTitle"))
                .filter(|text| event.takes_title() && !text.trim().is_empty()),
            first_words: text(of_own("initialUserMessage"))
                .filter(|text| event == HookEvent::SessionStart && !text.trim().is_empty()),
            wanted: own.map_or_else(SideRequests::default, |own| SideRequests::read(event, own)),
        };
        if event == HookEvent::PermissionRequest {
            answer.decide(of_own("decision"));
        }
        answer
    }

    /// Takes over what is said in the person's place.
    fn decide(&mut self, decision: Option<&Value>) {
        let of = |key: &str| decision.and_then(|decision| decision.get(key));
        let why = reason(of("message").and_then(Value::as_str).unwrap_or_default());
        match of("behavior").and_then(Value::as_str) {
            Some("allow") => {
                self.permission = Some((Permission::Allow, why));
                self.input = of("updatedInput").filter(|input| input.is_object()).cloned();
            }
            Some("deny") => {
                if of("interrupt") == Some(&Value::Bool(true)) {
                    self.stop = Some(why.clone());
                }
                self.permission = Some((Permission::Deny, why));
            }
            _ => {}
        }
    }

    /// Every text of it that somebody will read, to be capped.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let fate = match &mut self.fate {
            HandlerFate::Blocked(text) | HandlerFate::Failed(text) => Some(text),
            HandlerFate::Passed => None,
        };
        let said = self.permission.as_mut().map(|(_, reason)| reason);
        let output = match &mut self.output {
            Some(Value::String(text)) => Some(text),
            _ => None,
        };
        let first = self.first_words.as_mut();
        let told = [self.context.as_mut(), self.message.as_mut(), self.stop.as_mut()];
        [fate, said, output, first].into_iter().chain(told).flatten()
    }
}

/// Whether the first line of a handler asks that nobody waits for it, and how
/// long it has then where it says so.
#[must_use]
pub fn let_go(line: &str) -> Option<Option<Duration>> {
    let value: Value = serde_json::from_str(line).ok()?;
    (value.get("async") == Some(&Value::Bool(true)))
        .then(|| value.get("asyncTimeout").and_then(Value::as_u64).map(Duration::from_millis))
}

fn permission(decision: &str) -> Option<Permission> {
    match decision {
        "allow" => Some(Permission::Allow),
        "ask" => Some(Permission::Ask),
        "deny" => Some(Permission::Deny),
        // `defer` leaves it to the rules, and so does what nobody knows.
        _ => None,
    }
}

fn reason(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() { "no reason was given".to_owned() } else { text.to_owned() }
}

fn complaint(stderr: &str) -> String {
    let line = stderr.lines().map(str::trim).find(|line| !line.is_empty());
    line.map_or_else(String::new, |line| {
        format!(": {}", line.chars().take(COMPLAINT_CHARS).collect::<String>())
    })
}
