//! Skills at work: the model is told once which there are, and takes one up by
//! its tool, or the person does by a slash. The text of a skill joins the
//! conversation as a reminder, and comes back after a compaction (L4.5).

use crate::event::Event;
use crate::permit::Verdict;
use crate::session::{Error, Session};
use crate::tools::Access;
use mnemon_hooks::Occasion;
use mnemon_kernel::ports::{Answer, PermissionAsk, ShellCommand};
use mnemon_kernel::record::reminder;
use mnemon_kernel::tokens::estimate_text;
use mnemon_kernel::{Attachment, Entry};
use mnemon_skills::{Origin, Part, Skill, parts};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The kind of the attachment that lists skills.
pub const LISTING: &str = "skill_listing";
/// The kind of one that holds the text of a skill.
pub const INVOKED: &str = "invoked_skills";

/// A skill that is to be taken up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillRequest {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub args: String,
}

impl Session {
    /// Tells the model which skills there are.
    pub(crate) async fn attach_skill_listing(&mut self) -> Result<(), Error> {
        let Some(listing) = self.config.skills.listing(&self.config.limits.skills) else {
            return Ok(());
        };
        let text = format!("Skills that you can take up with the Skill tool:\n\n{listing}");
        self.attach(LISTING, &text, Value::Null).await
    }

    /// The skill that the person calls by a slash, if that is what they do.
    pub(crate) fn called_skill(&self, prompt: &str) -> Option<SkillRequest> {
        let line = prompt.trim().strip_prefix('/')?;
        let (name, args) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let skill = self.config.skills.get(name).filter(|skill| skill.is_for_person())?;
        Some(SkillRequest { name: skill.name.clone(), args: args.trim().to_owned() })
    }

    /// Asks hooks about a skill that the person calls. Why not, where it is refused.
    pub(crate) async fn expansion_hooks(
        &mut self,
        request: &SkillRequest,
        prompt: &str,
        cancel: &CancellationToken,
    ) -> Result<Result<(), String>, Error> {
        let SkillRequest { name, args } = request;
        let source = "user";
        let occasion = Occasion::UserPromptExpansion { name, args, source, prompt };
        let verdict = self.fire(&occasion, cancel).await?;
        self.keep_contexts(occasion.event(), verdict.contexts);
        Ok(match verdict.blocked.or(verdict.stop) {
            Some(why) => Err(format!("a UserPromptExpansion hook refused /{name}: {why}")),
            None => Ok(()),
        })
    }

    /// Brings in the skills that were asked for by the tool.
    pub(crate) async fn attach_requested_skills(
        &mut self,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        for request in self.context.take_skills() {
            self.take_up(&request, cancel).await?;
        }
        Ok(())
    }

    /// Brings in the text of a skill, with its commands run, and lets its
    /// permissions hold until the turn ends.
    pub(crate) async fn take_up(
        &mut self,
        request: &SkillRequest,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        let skills = Arc::clone(&self.config.skills);
        let Some(skill) = skills.get(&request.name) else { return Ok(()) };
        self.permit.allow_for_turn(skill.rules());
        let mut body = String::new();
        for part in parts(&skill.filled(&request.args)) {
            match part {
                Part::Text(text) => body.push_str(&text),
                // What a repository brings does not act before it is trusted (S7).
                Part::Command(command) if skill.origin == Origin::Repository => {
                    let why = "the repository is not trusted; see `mnemon trust`";
                    body.push_str(&self.not_run(&command, why));
                }
                Part::Command(command) => body.push_str(&self.run_inline(&command, cancel).await),
            }
        }
        let body = self.config.redact(&body);
        self.append(Entry::Attachment(shown(skill, &request.args, &body, self.most_chars())))
            .await?;
        Ok(())
    }

    fn most_chars(&self) -> usize {
        usize::try_from(self.config.limits.offload.default_chars).unwrap_or(usize::MAX)
    }

    fn not_run(&self, command: &str, reason: &str) -> String {
        let text = format!("{command:?} in a skill was not run: {reason}");
        self.emit(|| Event::Notice(text.clone()));
        format!("[{text}]")
    }

    /// What a command in a skill prints; why it was not run, where it may not be.
    async fn run_inline(&mut self, command: &str, cancel: &CancellationToken) -> String {
        const TOOL: &str = "Bash";
        let access = Access::Execute(command.to_owned());
        let refused = match self.permit.decide(TOOL, &access) {
            Verdict::Allow => None,
            Verdict::Deny { reason } => Some(reason),
            Verdict::AllowIfItOnlyReads => self.world.shell.only_reads(command).err(),
            Verdict::Ask { rule } => {
                let summary = format!("{command} (a command in a skill)");
                let input = json!({ "command": command });
                let ask = PermissionAsk { tool: TOOL.into(), input, summary, rule };
                let answer = tokio::select! {
                    answer = self.world.approver.ask(ask) => answer,
                    () = cancel.cancelled() => Answer::Deny { reason: "it was stopped".into() },
                };
                match answer {
                    Answer::Allow | Answer::AllowAlways => None,
                    Answer::Deny { reason } => Some(reason),
                }
            }
        };
        if let Some(reason) = refused {
            return self.not_run(command, &reason);
        }
        let run = self.world.shell.run(ShellCommand {
            command: command.to_owned(),
            cwd: self.context.cwd(),
            timeout: Some(Duration::from_millis(self.config.limits.shell_timeout_ms)),
            output_bytes: self.config.limits.offload.bash_chars,
            confinement: self.context.confinement.clone(),
        });
        tokio::select! {
            ran = run => match ran {
                Ok(output) => output.text.trim_end().to_owned(),
                Err(error) => format!("[{error}]"),
            },
            () = cancel.cancelled() => "[it was stopped]".to_owned(),
        }
    }

    /// The skills in use, for after a compaction: the newest first, each cut,
    /// the oldest left out where they are too many (L4.5).
    pub(crate) fn restored_skills(&self) -> Vec<Attachment> {
        let limits = &self.config.limits;
        let (each, mut left) = (limits.skills.restore_each_tokens, limits.skills.restore_tokens);
        let mut used: Vec<SkillRequest> = Vec::new();
        for request in self.shown_data(INVOKED).filter_map(request_of) {
            used.retain(|known| known.name != request.name);
            used.push(request);
        }
        let mut restored = Vec::new();
        for request in used.into_iter().rev() {
            let Some(skill) = self.config.skills.get(&request.name) else { continue };
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
    Attachment { kind: INVOKED.to_owned(), rendered: reminder(&text), data }
}

fn request_of(data: &Value) -> Option<SkillRequest> {
    let skill = data.get("skills")?.get(0)?;
    let text = |key: &str| skill.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(SkillRequest { name: text("name")?, args: text("args").unwrap_or_default() })
}
