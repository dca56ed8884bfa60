//! What a provider is told when it is made.

use everfold_kernel::settings::{ANTHROPIC_URL, OPENAI_URL};
use everfold_kernel::{Class, Classify, Limits, Secret, env};
use everfold_wire::anthropic::Version;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// How the key is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// As `x-api-key`.
    ApiKey,
    /// As `Authorization: Bearer`.
    Bearer,
    /// Both ways: whoever gave the key knows which one counts.
    Both,
}

/// A provider's settings.
#[derive(Clone, Debug)]
pub struct ProviderConfig {
    /// Where the server is, with or without a slash or `/v1` at the end.
    pub base_url: String,
    /// The key; none for local servers that ask for none.
    pub key: Option<Secret>,
    /// How the key is sent.
    pub auth: Auth,
    /// Which setting or variable a person checks when the key is refused.
    pub key_hint: String,
    /// The version of Anthropic's API.
    pub anthropic_version: Version,
    /// Headers on top of ours; one of the same name replaces ours.
    pub headers: Vec<(String, Secret)>,
    /// Beta names that every request carries.
    pub betas: Vec<String>,
    /// The limits in force.
    pub limits: Limits,
}

/// Why a provider cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The base URL is none.
    #[error("the base URL {url:?} is not valid ({message}); give one such as https://host/v1")]
    BaseUrl {
        url: String,
        /// What is wrong with it.
        message: String,
    },
    /// A header cannot be sent.
    #[error("the header {name:?} has a name or value that cannot be sent; check {hint}")]
    Header {
        /// Its name; the value may be secret.
        name: String,
        /// Where it comes from.
        hint: String,
    },
    /// The HTTP client could not be made.
    #[error("the HTTP client could not be created: {message}")]
    Client { message: String },
}

impl Classify for Error {
    fn class(&self) -> Class {
        Class::Stop
    }
}

impl ProviderConfig {
    /// Settings for Anthropic's API with a key.
    #[must_use]
    pub fn anthropic(key: Secret) -> Self {
        Self {
            base_url: ANTHROPIC_URL.into(),
            key: Some(key),
            auth: Auth::ApiKey,
            key_hint: env::ANTHROPIC_API_KEY.into(),
            anthropic_version: Version::default(),
            headers: Vec::new(),
            betas: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// Settings for a server that speaks chat completions; without a URL,
    /// OpenAI's own.
    #[must_use]
    pub fn openai(base_url: Option<String>, key: Option<Secret>) -> Self {
        Self {
            base_url: base_url.unwrap_or_else(|| OPENAI_URL.into()),
            key,
            auth: Auth::Bearer,
            key_hint: env::OPENAI_API_KEY.into(),
            anthropic_version: Version::default(),
            headers: Vec::new(),
            betas: Vec::new(),
            limits: Limits::default(),
        }
    }

    /// The base URL, checked.
    pub(crate) fn base(&self) -> Result<Url, Error> {
        let bad =
            |message: String| Error::BaseUrl { url: without_credentials(&self.base_url), message };
        let url = Url::parse(self.base_url.trim()).map_err(|error| bad(error.to_string()))?;
        match url.scheme() {
            "http" | "https" => Ok(url),
            other => Err(bad(format!("{other} is neither http nor https"))),
        }
    }

    /// The headers that carry the key and what a person added, over `ours`.
    pub(crate) fn headers_over(&self, mut ours: HeaderMap) -> Result<HeaderMap, Error> {
        if let Some(key) = &self.key {
            if matches!(self.auth, Auth::ApiKey | Auth::Both) {
                let value = sensitive("x-api-key", key.expose(), &self.key_hint)?;
                ours.insert("x-api-key", value);
            }
            if matches!(self.auth, Auth::Bearer | Auth::Both) {
                let bearer = format!("Bearer {}", key.expose());
                ours.insert("authorization", sensitive("authorization", &bearer, &self.key_hint)?);
            }
        }
        for (name, value) in &self.headers {
            let header = HeaderName::try_from(name.as_str()).map_err(|_| Error::Header {
                name: name.clone(),
                hint: "the extra headers".into(),
            })?;
            ours.insert(header, sensitive(name, value.expose(), "the extra headers")?);
        }
        Ok(ours)
    }
}

fn sensitive(name: &str, value: &str, hint: &str) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::from_str(value.trim())
        .map_err(|_| Error::Header { name: name.to_owned(), hint: hint.to_owned() })?;
    value.set_sensitive(true);
    Ok(value)
}

/// A URL as it may be shown: without a user name, a password or a query.
fn without_credentials(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit('@').next().unwrap_or_default();
    let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    let slash = if path.is_empty() { "" } else { "/" };
    format!("{scheme}{host}{slash}{path}")
}

/// Headers from lines of `Name: Value`; lines of another form are passed over.
#[must_use]
pub fn parse_headers(text: &str) -> Vec<(String, Secret)> {
    text.lines()
        .filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            let name = name.trim();
            (!name.is_empty()).then(|| (name.to_owned(), Secret::new(value.trim())))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s5_a_config_and_its_errors_do_not_show_secrets() {
        let mut config = ProviderConfig::anthropic(Secret::new("sk-very-secret"));
        config.headers = parse_headers("X-Proxy: token-abc\n\nbroken\n : empty\nX-Two:  b ");
        assert_eq!(config.headers.len(), 2);
        let shown = format!("{config:?}");
        assert!(!shown.contains("sk-very") && !shown.contains("token-abc"));
        config.base_url = "ftp://me:pass@host/v1?key=1".into();
        let error = config.base().unwrap_err().to_string();
        assert!(!error.contains("pass") && !error.contains("key=1"), "{error}");
        config.key = Some(Secret::new("bad\nkey-very-secret"));
        let error = config.headers_over(HeaderMap::new()).unwrap_err();
        assert!(!error.to_string().contains("very-secret"));
    }
}
