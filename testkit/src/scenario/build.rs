//! Scenarios written in code.

use super::{Content, Gate, Reply, Scenario, ScenarioStep, ServerFault, When};
use crate::received::Received;
use serde_json::Value;

impl Scenario {
    /// An empty scenario: every request is echoed.
    ///
    /// ```
    /// use everfold_testkit::{Reply, Scenario, When};
    /// use serde_json::json;
    ///
    /// let scenario = Scenario::new()
    ///     .reply(Reply::tool("Read", json!({"file_path": "/a"})))
    ///     .on(When::tool_result("hello"), Reply::text("It says hello."));
    /// assert_eq!(scenario.steps.len(), 2);
    /// ```
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads a scenario.
    ///
    /// # Errors
    ///
    /// The text is no scenario; the error says where.
    pub fn from_json(text: &str) -> serde_json::Result<Self> {
        serde_json::from_str(text)
    }

    /// The next request gets this answer.
    #[must_use]
    pub fn reply(self, reply: Reply) -> Self {
        self.on(When::default(), reply)
    }

    /// The next request for which `when` holds gets this answer.
    #[must_use]
    pub fn on(mut self, when: When, reply: Reply) -> Self {
        self.steps.push(ScenarioStep { when, reply, repeat: false });
        self
    }

    /// Every request for which `when` holds gets this answer.
    #[must_use]
    pub fn always(mut self, when: When, reply: Reply) -> Self {
        self.steps.push(ScenarioStep { when, reply, repeat: true });
        self
    }

    /// What is answered where no step fits.
    #[must_use]
    pub fn otherwise(mut self, reply: Reply) -> Self {
        self.default = Some(reply);
        self
    }
}

impl When {
    /// The person's last text contains this.
    pub fn user(text: impl Into<String>) -> Self {
        Self { user_contains: Some(text.into()), ..Self::default() }
    }

    /// The conversation ends with a tool result that contains this.
    pub fn tool_result(text: impl Into<String>) -> Self {
        Self { tool_result_contains: Some(text.into()), ..Self::default() }
    }

    /// The source header says this.
    pub fn source(name: impl Into<String>) -> Self {
        Self { source: Some(name.into()), ..Self::default() }
    }

    /// Whether it holds of the `nth` request.
    pub(crate) fn holds(&self, request: &Received, nth: u64) -> bool {
        let contains = |wanted: &Option<String>, text: &dyn Fn() -> String| {
            wanted.as_ref().is_none_or(|wanted| text().contains(wanted))
        };
        let is = |wanted: &Option<String>, text: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == text)
        };
        let results = request.last_tool_results();
        contains(&self.user_contains, &|| request.last_user_text())
            && contains(&self.system_contains, &|| request.system_text())
            && self.tool_result.is_none_or(|wanted| wanted == results.is_some())
            && self.tool_result_contains.as_ref().is_none_or(|wanted| {
                results.as_ref().is_some_and(|results| results.contains(wanted))
            })
            && is(&self.source, request.source())
            && is(&self.model, request.model())
            && self.nth.is_none_or(|wanted| wanted == nth)
    }
}

impl Reply {
    /// An answer of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().and(Content::Text(text.into()))
    }

    /// An answer that calls one tool.
    pub fn tool(name: impl Into<String>, input: Value) -> Self {
        Self::default().and_tool(name, input)
    }

    pub fn error(status: u16, message: impl Into<String>) -> Self {
        Self::default().fault(ServerFault::Error {
            status,
            error_type: None,
            message: message.into(),
            headers: std::collections::BTreeMap::new(),
        })
    }

    /// What the server answers by itself: it says what it was told.
    pub(crate) fn echo(request: &Received) -> Self {
        match request.last_tool_results() {
            Some(results) => Self::text(format!("The tool said: {results}")),
            None => Self::text(format!("You said: {}", request.last_user_text())),
        }
    }

    /// The same answer with one more block.
    #[must_use]
    pub fn and(mut self, content: Content) -> Self {
        self.content.push(content);
        self
    }

    /// The same answer with one more call of a tool.
    #[must_use]
    pub fn and_tool(self, name: impl Into<String>, input: Value) -> Self {
        self.and(Content::ToolUse { name: name.into(), input, id: None })
    }

    /// The same answer with something going wrong.
    #[must_use]
    pub fn fault(mut self, fault: ServerFault) -> Self {
        self.faults.push(fault);
        self
    }

    /// The same answer, waiting after its first event until released.
    #[must_use]
    pub fn gate(mut self, name: impl Into<String>) -> Self {
        self.gate = Some(Gate { name: name.into(), after_events: super::one() });
        self
    }

    /// The same answer in chunks of so many bytes.
    #[must_use]
    pub fn chunk_bytes(mut self, bytes: usize) -> Self {
        self.chunk_bytes = Some(bytes);
        self
    }

    /// The same answer with a stop reason of its own.
    #[must_use]
    pub fn stop_reason(mut self, reason: impl Into<String>) -> Self {
        self.stop_reason = Some(reason.into());
        self
    }
}
