//! What the screen needs of the program around it.

use crate::page::TextPage;
use crate::panel_data::PanelData;
use everfold_agent::{Agent, CancellationToken, Session, SessionId};
pub use everfold_kernel::ports::BoxFuture;
use std::sync::Arc;

/// The program around the screen: it has the session, and knows the commands.
pub trait Host: Send {
    fn agent(&self) -> Arc<Agent>;

    fn session(&self) -> &Session;

    /// The conversation, to go on with it.
    fn session_mut(&mut self) -> &mut Session;

    /// The model that answers, as a person should see it.
    fn model_name(&self) -> String;

    /// What can be looked at and done without the session.
    fn side(&self) -> Arc<dyn PanelData>;

    /// The slash commands, skills among them.
    fn commands(&self) -> Vec<CommandInfo>;

    /// Runs what stands after the slash, and writes to the page.
    fn command<'a>(
        &'a mut self,
        line: &'a str,
        page: TextPage,
        stop: CancellationToken,
    ) -> BoxFuture<'a, anyhow::Result<Next>>;

    /// Goes on with another session.
    fn resume(
        &mut self,
        id: SessionId,
        page: TextPage,
        stop: CancellationToken,
    ) -> BoxFuture<'_, anyhow::Result<()>>;

    /// Ends the session: what runs in the background comes to its end, or is
    /// stopped.
    fn finish(
        &mut self,
        page: TextPage,
        stop: CancellationToken,
    ) -> BoxFuture<'_, anyhow::Result<()>>;
}

/// How it goes on after a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// With the next input.
    GoOn,
    /// Not at all.
    Quit,
    /// With a turn that begins so.
    Say(String),
    /// With a session that the person chooses; these words are in it.
    Choose(String),
    /// With a look at a task.
    Watch(String),
    /// From an earlier point; what was said there can be said again.
    WentBack(Option<String>),
}

/// A slash command, as completion and help show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandInfo {
    /// Its names, without the slash; the first is the one to show.
    pub names: Vec<String>,
    /// What follows the name.
    pub takes: String,
    pub about: String,
}

/// What the first screen says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Welcome {
    /// The version of the program.
    pub version: String,
    /// What there is: a word and what is said of it.
    pub found: Vec<(String, String)>,
    /// What a person should know before they begin.
    pub notes: Vec<String>,
}
