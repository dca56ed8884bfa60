//! What a server wants to know of the person (elicitation).

use super::BoxFuture;
use serde_json::{Map, Value};

mod form;

pub use form::{FormError, check, fields, plain};

/// Somebody who can answer a server.
pub trait Respondent: Send + Sync {
    /// Asks. Dropping the future takes the question back.
    fn respond(&self, question: ServerQuestion) -> BoxFuture<'_, ServerAnswer>;
}

/// What a server asks. All texts are the word of a stranger, without control
/// characters.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerQuestion {
    pub server: String,
    pub message: String,
    /// The server's name for the question.
    pub id: Option<String>,
    pub wants: Wants,
}

/// What a server wants of the person.
#[derive(Clone, Debug, PartialEq)]
pub enum Wants {
    /// Fields that are filled in.
    Form {
        /// They, in order.
        fields: Vec<Field>,
        /// Their schema as it came.
        schema: Value,
    },
    /// An address that is opened; nothing of what happens there comes by us.
    Visit(String),
}

#[derive(Clone, Debug, PartialEq)]
pub enum ServerAnswer {
    /// Yes: what was filled in.
    Accept(Map<String, Value>),
    Decline,
    /// Neither: the question was left.
    Cancel,
}

impl ServerAnswer {
    /// Its name on the wire.
    #[must_use]
    pub fn action(&self) -> &'static str {
        match self {
            Self::Accept(_) => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }
}

/// A field of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: String,
    /// What it is called for people.
    pub title: String,
    /// What it is about.
    pub description: String,
    pub kind: FieldKind,
    /// Whether it may be left out.
    pub need: FieldNeed,
    /// What it is where nothing is typed.
    pub default: Option<Value>,
}

/// Whether a field may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldNeed {
    /// It may not.
    Required,
    Optional,
}

/// What a field takes.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    Text {
        /// Least characters.
        least: u64,
        /// Most characters.
        most: u64,
        /// `email`, `uri`, `date` or `date-time`.
        format: Option<String>,
    },
    Number {
        /// The least.
        least: f64,
        /// The most.
        most: f64,
        /// Whether it is a whole one.
        whole: Whole,
    },
    Truth,
    /// One of some values.
    Choice(Vec<FormChoice>),
    /// Any of some values.
    Choices(Vec<FormChoice>),
}

/// Whether a number is a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    Yes,
    /// It need not be.
    No,
}

/// A value to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormChoice {
    pub value: String,
    /// What it is called for people.
    pub label: String,
}
