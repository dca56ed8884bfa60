//! Asking a server what it has (Q15).

use crate::config::{Error, ProviderConfig};
use crate::http::Transport;
use crate::openai::completions_url;
use everfold_wire::openai::{Inventory, ServerKind};
use reqwest::header::HeaderMap;
use reqwest::{Method, Url};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The server told what it has.
    Told(Inventory),
    /// It is there, and does not say.
    Silent,
    /// Nothing listens at its address, or it did not answer in time.
    Absent(String),
}

/// Asks a server for its models and their windows, within a time. `model` is the
/// one that a person named, if they did.
///
/// # Errors
/// When the base URL, the key or a header cannot be used.
pub async fn ask(
    config: &ProviderConfig,
    model: Option<&str>,
    limit: Duration,
) -> Result<Asked, Error> {
    let url = completions_url(config.base()?);
    let transport = Transport::new(config, url, HeaderMap::new())?;
    let asking = Asking { transport, until: Instant::now() + limit };
    let listed = match asking.get("/models").await {
        Ok(listed) => listed,
        Err(Unheard::Refused) => return Ok(Asked::Silent),
        Err(Unheard::Absent(why)) => return Ok(Asked::Absent(why)),
    };
    let Some(mut inventory) = Inventory::of_models(&listed) else { return Ok(Asked::Silent) };
    match inventory.kind {
        ServerKind::LlamaCpp => {
            if let Ok(props) = asking.beside("/props").await {
                inventory = inventory.with_props(&props);
            }
        }
        ServerKind::LmStudio => {
            if let Ok(list) = asking.beside("/api/v0/models").await {
                inventory = inventory.with_list(&list);
            }
        }
        ServerKind::Ollama => {
            let only = match inventory.models.as_slice() {
                [only] => Some(only.id.clone()),
                _ => None,
            };
            if let Some(model) = model.map(str::to_owned).or(only) {
                let (ps, show) = tokio::join!(asking.beside("/api/ps"), asking.show(&model));
                let told = |answer: Result<Value, Unheard>| answer.unwrap_or_default();
                inventory = inventory.with_ollama(&model, &told(ps), &told(show));
            }
        }
        ServerKind::Vllm | ServerKind::Other => {}
    }
    Ok(Asked::Told(inventory))
}

/// Questions to one server, and until when they may take.
struct Asking {
    transport: Transport,
    until: Instant,
}

/// Why there is no answer.
enum Unheard {
    /// The server does not know the question.
    Refused,
    /// The server is not there, or too slow.
    Absent(String),
}

impl Asking {
    /// A question below the address of completions, such as `/models`.
    async fn get(&self, path: &str) -> Result<Value, Unheard> {
        let base = self.transport.url.path().trim_end_matches("/chat/completions");
        self.ask(Method::GET, &format!("{base}{path}"), None).await
    }

    /// A question beside `/v1`.
    async fn beside(&self, path: &str) -> Result<Value, Unheard> {
        self.ask(Method::GET, &self.root(path), None).await
    }

    async fn show(&self, model: &str) -> Result<Value, Unheard> {
        self.ask(Method::POST, &self.root("/api/show"), Some(json!({ "model": model }))).await
    }

    fn root(&self, path: &str) -> String {
        let base = self.transport.url.path().trim_end_matches("/chat/completions");
        format!("{}{path}", base.strip_suffix("/v1").unwrap_or(base))
    }

    async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> Result<Value, Unheard> {
        let mut url: Url = self.transport.url.clone();
        url.set_path(path);
        let mut request =
            self.transport.client.request(method, url).headers(self.transport.headers.clone());
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let absent =
            |error: reqwest::Error| Unheard::Absent(self.transport.unreachable(error).to_string());
        let late = |_| Unheard::Absent(format!("{} did not answer", self.transport.shown_url()));
        let asked = timeout_at(self.until, request.send()).await.map_err(late)?;
        let response = asked.map_err(absent)?;
        if !response.status().is_success() {
            return Err(Unheard::Refused);
        }
        let bytes = timeout_at(self.until, response.bytes()).await.map_err(late)?;
        serde_json::from_slice(&bytes.map_err(absent)?).map_err(|_| Unheard::Refused)
    }
}
