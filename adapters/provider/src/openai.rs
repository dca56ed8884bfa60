//! Servers that speak OpenAI's chat completions, local ones first of all.

use crate::config::{Error, ProviderConfig};
use crate::http::{Dialogue, Transport, source_header, stream};
use everfold_kernel::ports::{
    BoxFuture, Headroom, Model, ModelCall, ModelError, ModelStream, RequestBody,
};
use everfold_kernel::record::Dialect;
use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use std::sync::Arc;

/// Models behind a server that speaks chat completions.
#[derive(Debug)]
pub struct OpenAiProvider {
    transport: Arc<Transport>,
    progress: Progress,
}

/// Whether a server is asked to say how far it is with reading a prompt. Only
/// llama.cpp knows the word, and strict servers refuse a word that they do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Asked,
    Unasked,
}

/// The word, at the front of a request.
const ASKS_PROGRESS: &[u8] = b"{\"return_progress\":true,";

impl OpenAiProvider {
    /// A provider; no connection is made yet.
    ///
    /// # Errors
    /// When the base URL, the key or a header cannot be used.
    pub fn new(config: &ProviderConfig, progress: Progress) -> Result<Self, Error> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let url = completions_url(config.base()?);
        Ok(Self { transport: Arc::new(Transport::new(config, url, headers)?), progress })
    }
}

impl Model for OpenAiProvider {
    /// The stream sends the request when it is polled; failures of the server
    /// come out of it, not of this call.
    fn call(&self, mut call: ModelCall) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        let transport = Arc::clone(&self.transport);
        if self.progress == Progress::Asked && call.body.starts_with(b"{") {
            let mut asking = RequestBody::from(ASKS_PROGRESS);
            asking.push_range(&call.body, 1..call.body.len());
            call.body = asking;
        }
        Box::pin(async move {
            let headers: HeaderMap = source_header(&call).into_iter().collect();
            Ok(stream(transport, Dialogue::OpenAi, headers, call))
        })
    }

    fn dialect(&self) -> Dialect {
        Dialect::OpenAi
    }

    fn headroom(&self) -> Option<Headroom> {
        self.transport.headroom()
    }
}

/// Where completions are. A bare host gets `/v1`, as every server has it there.
pub(crate) fn completions_url(mut base: Url) -> Url {
    let path = base.path().trim_end_matches('/');
    let path = path.strip_suffix("/chat/completions").unwrap_or(path);
    let path = if path.is_empty() { "/v1" } else { path };
    let path = format!("{path}/chat/completions");
    base.set_path(&path);
    base
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q8_the_base_url_may_end_in_many_ways() {
        for base in [
            "http://host:1",
            "http://host:1/v1",
            "http://host:1/v1/",
            "http://host:1/v1/chat/completions",
        ] {
            let url = completions_url(Url::parse(base).unwrap());
            assert_eq!(url.as_str(), "http://host:1/v1/chat/completions");
        }
        let url = completions_url(Url::parse("https://host/api/openai").unwrap());
        assert_eq!(url.path(), "/api/openai/chat/completions");
    }
}
