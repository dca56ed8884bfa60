//! Anthropic's Messages API.

use crate::config::{Error, ProviderConfig};
use crate::http::{Dialogue, Transport, source_header, stream};
use everfold_kernel::ports::{BoxFuture, Headroom, Model, ModelCall, ModelError, ModelStream};
use everfold_kernel::record::Dialect;
use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use std::sync::Arc;

const BETA: HeaderName = HeaderName::from_static("anthropic-beta");
const VERSION: HeaderName = HeaderName::from_static("anthropic-version");

/// Models behind Anthropic's API or a gateway that speaks it.
#[derive(Debug)]
pub struct AnthropicProvider {
    transport: Arc<Transport>,
    betas: Vec<String>,
}

impl AnthropicProvider {
    /// A provider; no connection is made yet.
    ///
    /// # Errors
    /// When the base URL, the key or a header cannot be used.
    pub fn new(config: &ProviderConfig) -> Result<Self, Error> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        let version = HeaderValue::from_static(config.anthropic_version.as_str());
        headers.insert(VERSION, version);
        let url = messages_url(config.base()?);
        Ok(Self {
            transport: Arc::new(Transport::new(config, url, headers)?),
            betas: config.betas.clone(),
        })
    }

    /// The configured betas and the call's, each once, and who asks.
    fn call_headers(&self, call: &ModelCall) -> Result<HeaderMap, ModelError> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.betas.iter().chain(&call.betas) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        let mut headers = HeaderMap::new();
        if !names.is_empty() {
            let value = HeaderValue::from_str(&names.join(",")).map_err(|_| {
                let message = "a beta name cannot be sent as a header; check the betas";
                ModelError::Refused { status: 400, message: message.into() }
            })?;
            headers.insert(BETA, value);
        }
        headers.extend(source_header(call));
        Ok(headers)
    }
}

impl Model for AnthropicProvider {
    /// The stream sends the request when it is polled; failures of the server
    /// come out of it, not of this call.
    fn call(&self, call: ModelCall) -> BoxFuture<'_, Result<ModelStream, ModelError>> {
        Box::pin(async move {
            let headers = self.call_headers(&call)?;
            let dialogue = Dialogue::Anthropic(call.cache.unwrap_or_default());
            Ok(stream(Arc::clone(&self.transport), dialogue, headers, call))
        })
    }

    fn dialect(&self) -> Dialect {
        Dialect::Anthropic
    }

    fn headroom(&self) -> Option<Headroom> {
        self.transport.headroom()
    }
}

fn messages_url(mut base: Url) -> Url {
    let path = base.path().trim_end_matches('/');
    let path = path.strip_suffix("/messages").unwrap_or(path);
    let path = path.strip_suffix("/v1").unwrap_or(path);
    let path = format!("{path}/v1/messages");
    base.set_path(&path);
    base
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q8_the_base_url_may_end_in_many_ways() {
        for base in [
            "http://host",
            "http://host/",
            "http://host/v1",
            "http://host/v1/",
            "http://host/v1/messages",
        ] {
            let url = messages_url(Url::parse(base).unwrap());
            assert_eq!(url.as_str(), "http://host/v1/messages");
        }
        let url = messages_url(Url::parse("https://host/gateway/anthropic/").unwrap());
        assert_eq!(url.path(), "/gateway/anthropic/v1/messages");
    }
}
