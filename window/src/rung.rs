//! The ladder: what is tried before each request, cheapest first (Q1).

/// One step of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rung {
    /// Layer 1: big fresh results go to disk.
    Offload,
    /// Ranges go out of view that the model asked for by its tool.
    Snip,
    /// Layer 2: stale results are cleared, when it pays.
    Prune,
    /// Finished spans are shown by their summaries, in place of layer 4.
    Collapse,
    /// Layer 4: a summary takes the place of what came before.
    Compact,
    /// Refuse a request that would not leave room for an answer (T4).
    Window,
}

impl Rung {
    /// The order in which they are climbed.
    pub const ORDER: &'static [Self] =
        &[Self::Offload, Self::Snip, Self::Prune, Self::Collapse, Self::Compact, Self::Window];

    /// Those of a background agent: nothing that asks a model or changes what
    /// its parent has cached (L4.9).
    pub const OF_FORKS: &'static [Self] = &[Self::Offload, Self::Window];

    /// Those of a loop that is not ours: it has no tool that snips, and
    /// collapsing takes the place of compaction only in our own sessions.
    pub const OF_OTHER_LOOPS: &'static [Self] =
        &[Self::Offload, Self::Prune, Self::Compact, Self::Window];
}
