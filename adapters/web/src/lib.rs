//! Pages of the web as text: the port `Web` over HTTP.
//!
//! A page is bounded in bytes and in time. Redirects are followed on the same
//! host only; one to another host is reported, so that whoever allowed a host
//! decides about the next. HTML becomes Markdown. Nothing is set up before
//! the first fetch, since loading certificates takes longer than starting.
//!
//! Which hosts may be read is decided before, not here.

mod content;
mod hook;
mod markdown;
mod reader;

pub use hook::HookPoster;
pub use reader::WebReader;
