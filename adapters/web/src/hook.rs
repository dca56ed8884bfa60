//! Handlers of hooks that are requests to a server.

use everfold_kernel::ports::{Exit, HookAction, HookCall, HookExit, HookRun};
use reqwest::Client;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use std::collections::BTreeMap;
use std::error::Error as _;
use std::sync::OnceLock;

/// Posts what hooks are told. Nothing is set up before the first one.
#[derive(Debug)]
pub struct HookPoster {
    variables: BTreeMap<String, String>,
    client: OnceLock<Client>,
}

impl HookPoster {
    /// One that fills headers from these variables.
    #[must_use]
    pub fn new(variables: BTreeMap<String, String>) -> Self {
        Self { variables, client: OnceLock::new() }
    }

    /// Posts, within the time that the call has. An answer in the 200s is an
    /// exit by 0 that printed its body; anything else is a failure.
    pub async fn post(&self, call: HookCall) -> HookRun {
        let timeout = call.timeout;
        match tokio::time::timeout(timeout, self.answer(call)).await {
            Ok(Ok(stdout)) => {
                HookRun { exit: HookExit::Ended(Exit::Code(0)), stdout, stderr: String::new() }
            }
            Ok(Err(why)) => HookRun::not_run(why.to_string()),
            Err(_) => {
                let (stdout, stderr) = (String::new(), String::new());
                HookRun { exit: HookExit::Ended(Exit::TimedOut), stdout, stderr }
            }
        }
    }

    async fn answer(&self, call: HookCall) -> Result<String, PostError> {
        let HookAction::Http { url, headers, allowed } = call.action else {
            return Err(PostError::NoRequest);
        };
        let headers = self.headers(&headers, &allowed)?;
        let request = self.client()?.post(&url).headers(headers).body(call.input);
        let mut response = request.send().await?;
        if !response.status().is_success() {
            return Err(PostError::Status(response.status().as_u16()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            body.extend_from_slice(&chunk);
            if body.len() as u64 > call.output_bytes {
                return Err(PostError::TooLong(call.output_bytes));
            }
        }
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    fn headers(
        &self,
        wanted: &BTreeMap<String, String>,
        allowed: &[String],
    ) -> Result<HeaderMap, PostError> {
        let json = HeaderValue::from_static("application/json");
        let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, json)]);
        for (name, value) in wanted {
            let broken = || PostError::Header(name.clone());
            let key = HeaderName::try_from(name).map_err(|_| broken())?;
            let value = HeaderValue::try_from(self.filled(value, allowed)).map_err(|_| broken())?;
            headers.insert(key, value);
        }
        Ok(headers)
    }

    /// The value with `$NAME` and `${NAME}` filled in, where that is allowed;
    /// empty where it is not.
    fn filled(&self, value: &str, allowed: &[String]) -> String {
        let mut parts = value.split('$');
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let braced = part.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            let (name, rest) = braced.unwrap_or_else(|| {
                let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
                part.split_at(end.unwrap_or(part.len()))
            });
            let known = allowed.iter().any(|own| own == name);
            let filled = self.variables.get(name).filter(|_| known);
            out.push_str(filled.map_or("", String::as_str));
            out.push_str(rest);
        }
        out
    }

    fn client(&self) -> Result<&Client, PostError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // Another part of the program may have chosen already: theirs stays.
        rustls::crypto::ring::default_provider().install_default().ok();
        let client = Client::builder().redirect(reqwest::redirect::Policy::none()).build();
        let client = client?;
        Ok(self.client.get_or_init(|| client))
    }
}

/// Why a server did not answer a hook.
#[derive(Debug, thiserror::Error)]
enum PostError {
    #[error("it is not a request")]
    NoRequest,
    #[error("the server answered with status {0}")]
    Status(u16),
    #[error("the answer has more than {0} bytes")]
    TooLong(u64),
    #[error("the header {0:?} is not valid")]
    Header(String),
    #[error("{}", told(.0))]
    Http(#[from] reqwest::Error),
}

fn told(error: &reqwest::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |cause| format!("{error}: {cause}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q7_headers_take_only_variables_that_are_allowed() {
        let variables = [("T", "secret"), ("K", "key")];
        let poster = HookPoster::new(
            variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        );
        let allowed = ["T".to_owned()];
        assert_eq!(poster.filled("Bearer $T", &allowed), "Bearer secret");
        assert_eq!(poster.filled("a ${T}b $K c", &allowed), "a secretb  c");
        assert_eq!(poster.filled("plain", &allowed), "plain");
    }
}
