//! What handlers want besides, each of it at one or two events.

use crate::event::HookEvent;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What handlers want besides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SideRequests {
    /// Wishes that are there or not.
    pub wishes: BTreeSet<SideRequest>,
    /// Files that are to be watched.
    pub watch: Vec<PathBuf>,
    /// What a server is answered in the person's place.
    pub reply: Option<ElicitationReply>,
    /// Where a checkout is that the handler made.
    pub place: Option<PathBuf>,
}

/// A wish that is there or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SideRequest {
    /// The model may try the call again that was refused.
    Retry,
    /// A message that is refused is not repeated to the person.
    HidePrompt,
}

/// What a server is answered.
#[derive(Clone, Debug, PartialEq)]
pub struct ElicitationReply {
    /// `accept`, `decline` or `cancel`.
    pub action: String,
    /// What is filled in; an object.
    pub content: Option<Value>,
}

impl SideRequests {
    /// Reads what stands in `hookSpecificOutput` of an event.
    pub(crate) fn read(event: HookEvent, own: &Value) -> Self {
        let yes = |key: &str| own.get(key).and_then(Value::as_bool) == Some(true);
        let text = |key: &str| own.get(key).and_then(Value::as_str);
        let wish = match event {
            HookEvent::PermissionDenied if yes("retry") => Some(SideRequest::Retry),
            HookEvent::UserPromptSubmit if yes("suppressOriginalPrompt") => {
                Some(SideRequest::HidePrompt)
            }
            _ => None,
        };
        let paths = own.get("watchPaths").and_then(Value::as_array).into_iter().flatten();
        let paths = paths.filter_map(Value::as_str).map(PathBuf::from);
        let asks = matches!(event, HookEvent::Elicitation | HookEvent::ElicitationResult);
        let reply = text("action")
            .filter(|action| asks && matches!(*action, "accept" | "decline" | "cancel"))
            .map(|action| ElicitationReply {
                action: action.to_owned(),
                content: own.get("content").filter(|content| content.is_object()).cloned(),
            });
        Self {
            wishes: wish.into_iter().collect(),
            watch: paths.filter(|path| event.leaves_variables() && path.is_absolute()).collect(),
            reply,
            place: text("worktreePath")
                .filter(|_| event == HookEvent::WorktreeCreate)
                .and_then(|text| Self::place(text).place),
        }
    }

    /// A checkout at a place.
    pub(crate) fn place(text: &str) -> Self {
        let path = Some(PathBuf::from(text.trim())).filter(|path| path.is_absolute());
        Self { place: path, ..Self::default() }
    }

    /// Adds what another handler wants. Of two replies the first that does
    /// not accept holds.
    pub(crate) fn add(&mut self, other: Self) {
        self.wishes.extend(other.wishes);
        self.watch.extend(other.watch);
        let refuses = |reply: &Option<ElicitationReply>| {
            reply.as_ref().is_some_and(|reply| reply.action != "accept")
        };
        if self.reply.is_none() || (!refuses(&self.reply) && refuses(&other.reply)) {
            self.reply = other.reply;
        }
        self.place = self.place.take().or(other.place);
    }
}
