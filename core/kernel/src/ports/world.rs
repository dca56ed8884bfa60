//! The ports that a session is given.

use super::{
    Approver, Clock, Dreams, Files, Hooks, Memories, Model, PastSearch, Post, Respondent, Search,
    ServerMaker, Servers, Shell, Spending, Switches, Transcripts, Web, Worktrees,
};
use std::sync::Arc;

/// Everything outside the engine. Each part can be replaced by itself.
#[derive(Clone)]
pub struct World {
    /// Time and fresh ids.
    pub clock: Arc<dyn Clock>,
    pub model: Arc<dyn Model>,
    /// Files that tools touch.
    pub files: Arc<dyn Files>,
    pub shell: Arc<dyn Shell>,
    /// Glob and grep.
    pub search: Arc<dyn Search>,
    pub web: Arc<dyn Web>,
    /// Where the log is kept.
    pub transcripts: Arc<dyn Transcripts>,
    /// Who says yes or no to tool calls.
    pub approver: Arc<dyn Approver>,
    /// Who answers what servers want to know; none where nobody is there.
    pub respondent: Option<Arc<dyn Respondent>>,
    /// Servers that bring tools; none where there are none.
    pub servers: Option<Arc<dyn Servers>>,
    /// What makes the servers that agents define for themselves.
    pub server_maker: Option<Arc<dyn ServerMaker>>,
    /// Who runs the handlers of hooks; none where there are none.
    pub hooks: Option<Arc<dyn Hooks>>,
    /// What was said in earlier conversations; none where it is not searched (R10).
    pub past: Option<Arc<dyn PastSearch>>,
    /// Memories of earlier conversations; none where memory is off (L5.7).
    pub memories: Option<Arc<dyn Memories>>,
    /// What the background spent on a day, over all processes; none counts
    /// by the session alone.
    pub spending: Option<Arc<dyn Spending>>,
    /// Letters from and to other processes; none where there are no others.
    pub post: Option<Arc<dyn Post>>,
    /// Checkouts for agents; none where there can be none.
    pub worktrees: Option<Arc<dyn Worktrees>>,
    /// Consolidating those memories: the project's, and its team's.
    pub dreams: Vec<Arc<dyn Dreams>>,
    /// Where kill switches and limits are followed; none keeps them as they
    /// were when the session started (Q3).
    pub switches: Option<Arc<dyn Switches>>,
}
