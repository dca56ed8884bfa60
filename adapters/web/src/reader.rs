//! Fetching.

use crate::content::{Content, decoded};
use crate::markdown;
use everfold_kernel::limits::Limits;
use everfold_kernel::ports::{BoxFuture, Page, Web, WebError};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Client, Response, Url};
use std::error::Error;
use std::sync::OnceLock;
use std::time::Duration;

/// How many redirects are followed.
const MAX_REDIRECTS: usize = 5;
const USER_AGENT: &str = concat!("everfold/", env!("CARGO_PKG_VERSION"));
const WANTED: HeaderValue =
    HeaderValue::from_static("text/markdown, text/html;q=0.9, text/*;q=0.8, */*;q=0.5");

/// Reads pages over HTTP.
#[derive(Debug)]
pub struct WebReader {
    max_bytes: u64,
    time_limit: Duration,
    client: OnceLock<Client>,
}

impl WebReader {
    /// A reader with the limits for pages. Nothing is set up yet.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            max_bytes: limits.web_bytes,
            time_limit: Duration::from_secs(limits.web_timeout_s),
            client: OnceLock::new(),
        }
    }

    fn client(&self, url: &Url) -> Result<&Client, WebError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // Another part of the program may have chosen already: theirs stays.
        rustls::crypto::ring::default_provider().install_default().ok();
        let client = Client::builder()
            .user_agent(USER_AGENT)
            .default_headers(HeaderMap::from_iter([(ACCEPT, WANTED)]))
            .redirect(reqwest::redirect::Policy::none())
            .build()
            .map_err(|error| failed(url, &error))?;
        Ok(self.client.get_or_init(|| client))
    }

    async fn page(&self, from: Url) -> Result<Page, WebError> {
        let mut at = from.clone();
        for _ in 0..=MAX_REDIRECTS {
            let response = self
                .client(&at)?
                .get(at.clone())
                .send()
                .await
                .map_err(|error| failed(&at, &error))?;
            let Some(next) = redirect(&response, &at)? else {
                return self.read(response).await;
            };
            if !is_same_place(&at, &next) {
                return Err(WebError::Redirect { from: from.into(), to: next.into() });
            }
            at = next;
        }
        Err(WebError::Failed {
            url: from.into(),
            message: format!("more than {MAX_REDIRECTS} redirects"),
        })
    }

    async fn read(&self, response: Response) -> Result<Page, WebError> {
        let (url, status) = (response.url().clone(), response.status().as_u16());
        let header = response.headers().get(CONTENT_TYPE);
        let kind = header.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let declared = Content::declared(kind.as_deref());
        if declared == Content::Other {
            return Err(not_text(&url, kind));
        }
        let body = self.body(response, &url).await?;
        let bytes = body.len() as u64;
        let content = declared.sniffed(&body);
        if content == Content::Other {
            return Err(not_text(&url, kind));
        }
        let text = decoded(kind.as_deref(), body);
        let text = match content {
            Content::Html => markdown::from_html(text).await,
            _ => text,
        };
        Ok(Page { url: url.into(), status, bytes, text })
    }

    /// The body, if it stays within the limit.
    async fn body(&self, mut response: Response, url: &Url) -> Result<Vec<u8>, WebError> {
        let too_large = || WebError::Failed {
            url: url.to_string(),
            message: format!("it has more than the {} bytes that are read", self.max_bytes),
        };
        if response.content_length() > Some(self.max_bytes) {
            return Err(too_large());
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| failed(url, &error))? {
            if (body.len() + chunk.len()) as u64 > self.max_bytes {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

impl Web for WebReader {
    fn fetch<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Page, WebError>> {
        Box::pin(async move {
            let parsed = Url::parse(url.trim()).ok();
            let usable = |url: &Url| matches!(url.scheme(), "http" | "https") && url.has_host();
            let from =
                parsed.filter(usable).ok_or_else(|| WebError::Url { url: url.to_owned() })?;
            let done = tokio::time::timeout(self.time_limit, self.page(from)).await;
            done.unwrap_or_else(|_| {
                let seconds = self.time_limit.as_secs();
                Err(WebError::Failed {
                    url: url.to_owned(),
                    message: format!("no whole answer within {seconds} seconds"),
                })
            })
        })
    }
}

/// Where an answer sends, if it does.
fn redirect(response: &Response, at: &Url) -> Result<Option<Url>, WebError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(to) = response.headers().get(LOCATION) else {
        return Ok(None);
    };
    let to = String::from_utf8_lossy(to.as_bytes());
    let next = at.join(&to).map_err(|_| WebError::Failed {
        url: at.to_string(),
        message: format!("it redirects to {to:?}, which is not a URL"),
    })?;
    Ok(Some(next))
}

/// Whether a redirect stays: the same host and port, at most with TLS added.
fn is_same_place(from: &Url, to: &Url) -> bool {
    let port = |url: &Url| url.port_or_known_default();
    let same = from.scheme() == to.scheme() && port(from) == port(to);
    let secured = from.scheme() == "http"
        && to.scheme() == "https"
        && from.port().is_none()
        && to.port().is_none();
    from.host_str() == to.host_str() && (same || secured)
}

fn not_text(url: &Url, kind: Option<String>) -> WebError {
    WebError::NotText {
        url: url.to_string(),
        content_type: kind.unwrap_or_else(|| "binary".to_owned()),
    }
}

/// The whole chain of causes: the first alone says little.
fn failed(url: &Url, error: &dyn Error) -> WebError {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        message = format!("{message}: {error}");
        cause = error.source();
    }
    WebError::Failed { url: url.to_string(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q5_a_redirect_stays_on_its_host() {
        let same =
            |a: &str, b: &str| is_same_place(&Url::parse(a).unwrap(), &Url::parse(b).unwrap());
        assert!(same("http://a.example/x", "http://a.example/y"));
        assert!(same("http://a.example/", "https://a.example/"));
        assert!(same("https://a.example/", "https://a.example:443/"));
        assert!(!same("https://a.example/", "http://a.example/"), "TLS removed");
        assert!(!same("http://a.example/", "http://www.a.example/"));
        assert!(!same("http://a.example/", "http://a.example:81/"));
    }
}
