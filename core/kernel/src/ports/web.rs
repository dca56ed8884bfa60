//! Pages of the web.

use super::BoxFuture;
use crate::error::{Class, Classify};

/// Reading pages.
pub trait Web: Send + Sync {
    /// A page as text: HTML becomes Markdown. A redirect to another host is
    /// not followed but reported.
    fn fetch<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Page, WebError>>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Where it was found in the end.
    pub url: String,
    pub status: u16,
    /// Its bytes, before conversion.
    pub bytes: u64,
    pub text: String,
}

/// Why a page could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebError {
    /// Not an http or https URL.
    #[error("{url:?} is not an http or https URL")]
    Url { url: String },
    /// The page sends elsewhere.
    #[error("{from} redirects to another host: {to}; fetch that URL if you mean it")]
    Redirect {
        /// What was asked for.
        from: String,
        to: String,
    },
    /// It is not text.
    #[error("{url} is {content_type}, not text")]
    NotText { url: String, content_type: String },
    /// It could not be fetched.
    #[error("{url} could not be fetched: {message}")]
    Failed { url: String, message: String },
}

impl Classify for WebError {
    fn class(&self) -> Class {
        Class::Refuse
    }
}
