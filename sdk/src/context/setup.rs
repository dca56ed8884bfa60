//! What a context is started with.

use crate::SystemClock;
use everfold_kernel::models::Prices;
use everfold_kernel::ports::Clock;
use everfold_kernel::record::{Breakpoint, CacheTtl, Delivery, Dialect, Params};
use everfold_kernel::window::{Overrides, WindowRank};
use everfold_kernel::{Flags, Limits, ModelId, ModelTable, Prelude, SystemBlock, Window};
use everfold_transcript::Envelope;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most tokens of an answer, where nothing else is said.
const ANSWER_TOKENS: u64 = 4_096;

/// What a [`Context`](super::Context) is started with: the model, and what
/// stands before the messages.
///
/// ```
/// use everfold::context::{ContextSetup, Dialect};
///
/// let setup = ContextSetup::new("qwen3-coder")
///     .dialect(Dialect::OpenAi)
///     .system("You are a careful programmer.")
///     .window(60_000)
///     .clearable(["read_file", "search"]);
/// ```
#[derive(Clone)]
pub struct ContextSetup {
    pub(super) params: Params,
    system: Option<String>,
    tools: Vec<Value>,
    window: Option<u64>,
    pub(super) table: ModelTable,
    pub(super) limits: Arc<Limits>,
    pub(super) flags: Flags,
    pub(super) clearable: Vec<String>,
    pub(super) guidance: Option<String>,
    pub(super) notes: bool,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) envelope: Envelope,
}

impl ContextSetup {
    /// A conversation with this model, in the form of Anthropic's Messages API.
    /// Windows and prices of known models are built in.
    #[must_use]
    pub fn new(model: impl Into<ModelId>) -> Self {
        let mut params = Params::new(model, ANSWER_TOKENS);
        params.delivery = Delivery::Whole;
        params.cache = Some(CacheTtl::default());
        Self {
            params,
            system: None,
            tools: Vec::new(),
            window: None,
            table: ModelTable::builtin(),
            limits: Arc::default(),
            flags: Flags::default(),
            clearable: Vec::new(),
            guidance: None,
            notes: false,
            clock: Arc::new(SystemClock),
            envelope: Envelope::new("context".into(), "", env!("CARGO_PKG_VERSION")),
        }
    }

    /// The form of requests and responses.
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.params.dialect = dialect;
        self
    }

    /// The system prompt.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// The tools, as either API has them: with `input_schema`, or as a
    /// `function` with `parameters`.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Value>) -> Self {
        self.tools = tools.into_iter().map(declared).collect();
        self
    }

    /// Most tokens of one answer; 4,096 where this is not called.
    #[must_use]
    pub fn max_tokens(mut self, tokens: u64) -> Self {
        self.params.max_tokens = tokens;
        self
    }

    /// The window, in tokens, where it is not that of the model table.
    #[must_use]
    pub fn window(mut self, tokens: u64) -> Self {
        self.window = Some(tokens);
        self
    }

    /// What the model costs, where the model table does not know it. By that
    /// clearing is weighed; without a price nothing is cleared while the server
    /// may have it cached.
    #[must_use]
    pub fn prices(mut self, prices: Prices) -> Self {
        let own = BTreeMap::from([(self.params.model.to_string(), prices)]);
        self.table = self.table.with_overrides(&BTreeMap::new(), &own);
        self
    }

    /// Names of tools whose results can be had again, so that old ones may be
    /// cleared (L2.1). Those of this program's own tools are known.
    #[must_use]
    pub fn clearable<S: Into<String>>(mut self, tools: impl IntoIterator<Item = S>) -> Self {
        self.clearable = tools.into_iter().map(Into::into).collect();
        self
    }

    /// What summaries are to keep in mind.
    #[must_use]
    pub fn guidance(mut self, text: impl Into<String>) -> Self {
        self.guidance = Some(text.into());
        self
    }

    /// Keeps running notes (layer 3): the model is asked for them when a summary
    /// is in sight and they pay, so that none has to be waited for then.
    #[must_use]
    pub fn notes(mut self) -> Self {
        self.notes = true;
        self
    }

    /// Answers are streamed. [`Context::observe`](super::Context::observe)
    /// takes the whole stream then.
    #[must_use]
    pub fn streamed(mut self) -> Self {
        self.params.delivery = Delivery::Streamed;
        self
    }

    /// Other limits than the built-in ones.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Arc::new(limits);
        self
    }

    /// Other switches: each layer has one.
    #[must_use]
    pub fn flags(mut self, flags: Flags) -> Self {
        self.flags = flags;
        self
    }

    /// Another clock than the machine's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    pub(super) fn window_of(&self) -> Window {
        let spec = self.table.spec(&self.params.model);
        Window::resolve(&self.params.model, spec, &[], &self.overrides(), &self.limits)
    }

    pub(super) fn overrides(&self) -> Overrides {
        Overrides { window: self.window, rank: WindowRank::Environment, ..Overrides::default() }
    }

    /// What stands before the messages.
    pub(super) fn prelude(&self) -> Prelude {
        let mut params = self.params.clone();
        if params.dialect == Dialect::OpenAi {
            params.cache = None;
        }
        let system = self
            .system
            .iter()
            .map(|text| SystemBlock { text: text.clone(), breakpoint: Breakpoint::Here });
        Prelude { system: system.collect(), tools: self.tools.clone(), params }
    }
}

/// A tool in the form in which the log has it.
fn declared(tool: Value) -> Value {
    let Some(function) = tool.get("function") else { return tool };
    json!({
        "name": function.get("name"),
        "description": function.get("description"),
        "input_schema": function.get("parameters"),
    })
}
