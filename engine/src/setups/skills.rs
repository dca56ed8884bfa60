//! Skills at work: the model is told once which there are, and takes one up by
//! its tool, or the person does by a slash. The text of a skill joins the
//! conversation as a reminder, and comes back after a compaction (L4.5).

use crate::agents::{self, Order, Started};
use crate::event::Event;
use crate::permit::{Footprint, Verdict};
use crate::session::projections::LENT;
use crate::session::{Error, Session};
use crate::setups::hooks::session_events::PromptRefusal;
use crate::setups::hooks::{self, model_switch, tool_events};
pub use crate::tools::SkillRequest;
use crate::tools::{Access, ToolCall};
use everfold_hooks::{Occasion, Permission, Registry};
use everfold_kernel::ports::{PermissionAnswer, PermissionAsk, ShellCommand};
use everfold_kernel::provenance::{Carrier, Provenance, Source};
use everfold_kernel::record::{neutralise, reminder};
use everfold_kernel::tokens::estimate_text;
use everfold_kernel::{Attachment, Entry, Limits, ToolUseId};
use everfold_mail::Running;
use everfold_rules::Patterns;
use everfold_skills::{BodyPart, Skill, SkillContext, parts};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The kind of the attachment that lists skills.
pub const LISTING: &str = "skill_listing";
/// The kind of one that holds the text of a skill.
pub const INVOKED: &str = "invoked_skills";

/// The kind of one that tells what came of a skill that an agent carried out.
const CARRIED_OUT: &str = "skill_result";
/// The kind of one that tells of skills for files that were touched.
const FITTING: &str = "dynamic_skill";

/// The tool that commands in a skill are judged as.
const TOOL: &str = "Bash";

/// Tells the model which skills there are.
pub(crate) async fn attach_skill_listing(session: &mut Session) -> Result<(), Error> {
    let Some(listing) = session.config.setups.skills.listing(&session.config.limits.skills) else {
        return Ok(());
    };
    let text = format!("Skills that you can take up with the Skill tool:\n\n{listing}");
    session.attach_from(Source::Repository, LISTING, &text, Value::Null).await
}

/// The skill that the person calls by a slash, if that is what they do.
pub(crate) fn called_skill(session: &Session, prompt: &str) -> Option<SkillRequest> {
    let line = prompt.trim().strip_prefix('/')?;
    let (name, args) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let skill = session.config.setups.skills.get(name).filter(|skill| skill.is_for_person())?;
    Some(SkillRequest { name: skill.name.clone(), args: args.trim().to_owned() })
}

/// Asks hooks about a skill or a prompt that the person calls.
pub(crate) async fn expansion_hooks(
    session: &mut Session,
    kind: &str,
    (name, args): (&str, &str),
    prompt: &str,
    cancel: &CancellationToken,
) -> Result<(), PromptRefusal> {
    let source = "user";
    let occasion = Occasion::UserPromptExpansion { kind, name, args, source, prompt };
    let verdict = hooks::fire(session, &occasion, cancel).await?;
    hooks::keep_contexts(session, occasion.event(), verdict.contexts);
    match verdict.blocked.or(verdict.stop) {
        Some(why) => Err(PromptRefusal::Expansion { name: name.to_owned(), why }),
        None => Ok(()),
    }
}

/// Brings in the skills that were asked for by the tool.
pub(crate) async fn attach_requested_skills(
    session: &mut Session,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    for request in session.context.take_skills() {
        take_up(session, &request, cancel).await?;
    }
    Ok(())
}

/// Takes a skill up: its permissions hold until the turn ends, its hooks
/// from here on. Its text is brought in, or an agent is sent with it.
pub(crate) async fn take_up(
    session: &mut Session,
    request: &SkillRequest,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    let skills = Arc::clone(&session.config.setups.skills);
    let Some(skill) = skills.get(&request.name) else { return Ok(()) };
    session.permit.allow_for_turn(skill.rules());
    session.permit.deny_for_turn(&skill.disallowed_tools);
    if !skill.hooks.is_empty() && skill.may_act() && said_hooks(session, &skill.name) {
        hooks::add_hooks(
            session,
            &Registry::of_skill(&skill.hooks, &|_| format!("the skill {}", skill.name)),
        );
    }
    let body = body_of(session, skill, &request.args, cancel).await;
    match &skill.context {
        SkillContext::Here => {
            let mut shown = shown(skill, &request.args, &body, most_chars(session));
            if let Some(own) = model_switch::lend_model(session, skill, cancel).await?
                && let Some(data) = shown.data.as_object_mut()
            {
                data.insert(LENT.to_owned(), own.to_string().into());
            }
            session.append(Entry::Attachment(shown)).await?;
            Ok(())
        }
        SkillContext::Agent { kind } => {
            let (source, done) = send(session, skill, kind.as_deref(), body, cancel).await;
            let whose = Provenance::through(Carrier::Agent, source);
            let data = json!({ "skills": [{ "name": skill.name, "args": request.args }] });
            session.attach_from(whose, CARRIED_OUT, &done, data).await
        }
    }
}

/// The text of a skill, with its commands run.
async fn body_of(
    session: &mut Session,
    skill: &Skill,
    args: &str,
    cancel: &CancellationToken,
) -> String {
    let mut body = String::new();
    for part in parts(&skill.filled(args)) {
        match part {
            BodyPart::Text(text) => body.push_str(&text),
            // What a repository brings does not act before it is trusted (S7).
            BodyPart::Command(command) if !skill.may_act() => {
                let why = "the repository is not trusted; run `everfold trust`";
                body.push_str(&not_run(session, &command, why));
            }
            BodyPart::Command(command) => {
                body.push_str(&run_inline(session, &command, cancel).await);
            }
        }
    }
    session.config.redact(&body)
}

/// Whether the hooks of a skill are to be added: once is enough.
fn said_hooks(session: &mut Session, name: &str) -> bool {
    session.runtime.hooks.skills.insert(name.to_owned())
}

/// Lets an agent carry a skill out, and says what came of it, and who wrote
/// the least trusted of what that agent read.
async fn send(
    session: &Session,
    skill: &Skill,
    kind: Option<&str>,
    body: String,
    cancel: &CancellationToken,
) -> (Source, String) {
    let own = |text| (Source::Model, text);
    let name = &skill.name;
    let wanted = kind.unwrap_or_default();
    let Some(mut kind) = session.crew.agents.roster().get(wanted).cloned() else {
        return own(format!("The skill {name} was not carried out: there is no agent {wanted:?}."));
    };
    kind.model = skill.model.clone().or(kind.model);
    let order = Order {
        description: format!("the skill {name}"),
        prompt: body,
        provenance: Source::Repository.into(),
        kind: None,
        running: Some(Running::Foreground),
        isolation: None,
        name: None,
    };
    let (parent, call) = (agents::as_parent(session), ToolUseId::new("skill"));
    let sent = Box::pin(session.crew.agents.start_kind(&parent, Some(kind), order, &call));
    let ended = tokio::select! {
        ended = sent => ended,
        () = cancel.cancelled() => return own(format!("The skill {name} was stopped.")),
    };
    match ended {
        Ok(Started::Ended(done)) => {
            let text = neutralise(done.text.trim());
            let text = format!(
                "An agent has carried out the skill {name} ({}). What it says:\n\n{text}",
                done.how
            );
            (done.source, text)
        }
        Ok(Started::Background { id, .. }) => {
            own(format!("The agent {id} carries out the skill {name}."))
        }
        Err(why) => own(format!("The skill {name} was not carried out: {why}.")),
    }
}

/// Tells the model of skills that are for the files it has touched.
pub(crate) async fn attach_skills_for(
    session: &mut Session,
    touched: &[PathBuf],
) -> Result<(), Error> {
    let skills = Arc::clone(&session.config.setups.skills);
    let waiting = skills.skills().iter().filter(|s| s.is_for_model() && !s.paths.is_empty());
    let told: BTreeSet<String> = session
        .state
        .shown_data(FITTING)
        .filter_map(|data| data.get("names")?.as_array())
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let base = session.config.workplace.project.clone();
    let limits = &session.config.limits;
    let fits = |skill: &&Skill| {
        let patterns = Patterns::new(&skill.paths, &limits.rules);
        touched.iter().any(|path| patterns.matching(&base, path).is_some())
    };
    let due: Vec<&Skill> = waiting.filter(|s| !told.contains(&s.name)).filter(fits).collect();
    if due.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> =
        due.iter().map(|skill| format!("- {}: {}", skill.name, skill.description)).collect();
    let names: Vec<&str> = due.iter().map(|skill| skill.name.as_str()).collect();
    let text = format!(
        "Skills for the files that you work on; take one up with the Skill tool:\n\n{}",
        lines.join("\n")
    );
    let data = json!({ "names": names });
    session.attach_from(Source::Repository, FITTING, &text, data).await
}

fn most_chars(session: &Session) -> usize {
    usize::try_from(session.config.limits.offload.default_chars).unwrap_or(usize::MAX)
}

fn not_run(session: &Session, command: &str, reason: &str) -> String {
    let text = format!("{command:?} in a skill was not run: {reason}");
    session.emit(|| Event::Notice(text.clone()));
    format!("[{text}]")
}

/// What a command in a skill prints; why it was not run, where it may not be.
async fn run_inline(session: &mut Session, command: &str, cancel: &CancellationToken) -> String {
    let access = Access::Execute(command.to_owned());
    let cwd = session.context.cwd();
    let deed = Footprint::of(&access, &session.world, &session.permit, cwd).await;
    let refused = match session.permit.decide(TOOL, &deed) {
        Verdict::Allow => None,
        Verdict::Deny { reason } => Some(reason),
        Verdict::Ask { rule } => match ask_inline(session, command, rule, cancel).await {
            Ok(PermissionAnswer::Allow | PermissionAnswer::AllowAlways) => None,
            Ok(PermissionAnswer::Deny { reason }) => Some(reason),
            Err(error) => Some(error.to_string()),
        },
    };
    if let Some(reason) = refused {
        return not_run(session, command, &reason);
    }
    let confinement = match session.context.confinement_now().await {
        Ok(confinement) => confinement,
        Err(error) => return not_run(session, command, &error.to_string()),
    };
    let run = session.world.shell.run(ShellCommand {
        command: command.to_owned(),
        cwd: session.context.cwd(),
        timeout: Some(Duration::from_millis(session.config.limits.shell_timeout_ms)),
        output_bytes: session.config.limits.offload.bash_chars,
        confinement,
    });
    tokio::select! {
        ran = run => match ran {
            Ok(output) => output.text.trim_end().to_owned(),
            Err(error) => format!("[{error}]"),
        },
        () = cancel.cancelled() => "[it was stopped]".to_owned(),
    }
}

/// Who says whether a command in a skill may run: a hook, or the person.
async fn ask_inline(
    session: &mut Session,
    command: &str,
    rule: String,
    cancel: &CancellationToken,
) -> Result<PermissionAnswer, Error> {
    let (id, name) = (ToolUseId::new("skill"), TOOL.to_owned());
    let mut call = ToolCall { id, name, input: json!({ "command": command }) };
    match tool_events::request_hooks(session, &mut call, &rule, cancel).await? {
        Some((Permission::Deny, reason)) => return Ok(PermissionAnswer::Deny { reason }),
        Some(_) => return Ok(PermissionAnswer::Allow),
        None => {}
    }
    let summary = format!("{command} (a command in a skill)");
    let input = json!({ "command": command });
    tool_events::ask_person(
        session,
        PermissionAsk { tool: TOOL.into(), input, summary, rule },
        cancel,
    )
    .await
}

/// The skills in use, for after a compaction: the newest first, each cut,
/// the oldest left out where they are too many (L4.5).
pub(crate) fn restored_skills(session: &Session, limits: &Limits) -> Vec<Attachment> {
    let (each, mut left) = (limits.skills.restore_each_tokens, limits.skills.restore_tokens);
    let mut used: Vec<SkillRequest> = Vec::new();
    for request in session.state.shown_data(INVOKED).filter_map(request_of) {
        used.retain(|known| known.name != request.name);
        used.push(request);
    }
    let mut restored = Vec::new();
    for request in used.into_iter().rev() {
        let Some(skill) = session.config.setups.skills.get(&request.name) else { continue };
        let chars = each.min(left).saturating_mul(limits.bytes_per_token_text);
        // The envelope takes some of it, and no character is cut.
        let room = usize::try_from(chars).unwrap_or(usize::MAX).saturating_sub(ENVELOPE_BYTES);
        let attachment = shown(skill, &request.args, &skill.filled(&request.args), room);
        let tokens = estimate_text(&attachment.rendered, limits).0;
        if room == 0 || tokens > left {
            break;
        }
        left -= tokens;
        restored.push(attachment);
    }
    restored
}

/// Room for the words around a skill.
const ENVELOPE_BYTES: usize = 1_000;

/// A skill as the model sees it, in at most so many bytes of its text.
fn shown(skill: &Skill, args: &str, body: &str, most: usize) -> Attachment {
    let Skill { name, path, .. } = skill;
    let dir = path.parent().map(|dir| dir.display().to_string()).unwrap_or_default();
    let mut end = most.min(body.len());
    while !body.is_char_boundary(end) {
        end -= 1;
    }
    let (start, rest) = body.split_at(end);
    let cut = if rest.is_empty() {
        String::new()
    } else {
        format!("\n[It goes on in {}: use Read.]", path.display())
    };
    let text = format!(
        "The skill {name} is in use. Work by it; files that it names are relative to {dir}.\n\n\
         {start}{cut}"
    );
    let data = json!({ "skills": [{ "name": name, "path": path, "args": args }] });
    let (kind, rendered) = (INVOKED.to_owned(), reminder(&text));
    Attachment { kind, rendered, data, provenance: Some(Source::Repository.into()) }
}

fn request_of(data: &Value) -> Option<SkillRequest> {
    let skill = data.get("skills")?.get(0)?;
    let text = |key: &str| skill.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(SkillRequest { name: text("name")?, args: text("args").unwrap_or_default() })
}
