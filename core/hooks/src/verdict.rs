//! What all handlers of an event say together.

use crate::answer::{HandlerAnswer, HandlerFate, Permission};
use crate::event::{Blocking, HookEvent};
use crate::side_requests::SideRequests;
use serde_json::Value;

/// The sum of answers. The strictest holds; texts keep the order of handlers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookVerdict {
    pub blocked: Option<String>,
    /// Everything is to stop, and why.
    pub stop: Option<String>,
    /// Texts for the model.
    pub contexts: Vec<String>,
    /// What is said of a call.
    pub permission: Option<(Permission, String)>,
    /// Other arguments for the call.
    pub input: Option<Value>,
    /// What the model is to see instead of the tool's output.
    pub output: Option<Value>,
    /// What the conversation is to be called.
    pub title: Option<String>,
    /// What is said before the person's first words.
    pub first_words: Option<String>,
    /// What is wanted besides.
    pub wanted: SideRequests,
    /// What the person should know.
    pub notes: Vec<Noted>,
}

/// Something for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Noted {
    /// A handler said this.
    Said(String),
    /// A handler failed: its name, and why.
    Failed { handler: String, reason: String },
}

impl HookVerdict {
    /// Adds one handler's answer.
    pub fn add(&mut self, event: HookEvent, handler: &str, answer: HandlerAnswer) {
        match answer.fate {
            HandlerFate::Passed => {}
            // Who makes a checkout and fails has made none.
            HandlerFate::Failed(reason) if event == HookEvent::WorktreeCreate => {
                join(&mut self.blocked, reason);
            }
            HandlerFate::Failed(reason) => {
                self.notes.push(Noted::Failed { handler: handler.to_owned(), reason });
            }
            HandlerFate::Blocked(reason) => match event.blocking() {
                Blocking::Blocks | Blocking::TellsModel => join(&mut self.blocked, reason),
                Blocking::TellsPerson => self.notes.push(Noted::Said(reason)),
                Blocking::Ignored => {}
            },
        }
        if let Some(reason) = answer.stop {
            join(&mut self.stop, reason);
        }
        self.contexts.extend(answer.context);
        self.notes.extend(answer.message.map(Noted::Said));
        if let Some((permission, reason)) = answer.permission
            && self.permission.as_ref().is_none_or(|(known, _)| *known < permission)
        {
            self.permission = Some((permission, reason));
        }
        self.input = answer.input.or(self.input.take());
        self.output = answer.output.or(self.output.take());
        self.title = answer.title.or(self.title.take());
        self.wanted.add(answer.wanted);
        if let Some(words) = answer.first_words {
            join(&mut self.first_words, words);
        }
    }
}

fn join(all: &mut Option<String>, more: String) {
    match all {
        Some(text) => {
            text.push('\n');
            text.push_str(&more);
        }
        None => *all = Some(more),
    }
}
