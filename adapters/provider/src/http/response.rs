//! What is read of a response that is not a stream of events.

use super::failure::Failed;
use everfold_kernel::Timestamp;
use everfold_kernel::ports::ModelError;
use everfold_wire::errors::{classify, is_spent};
use everfold_wire::retry::{Failure, ServerWish};
use reqwest::Response;
use reqwest::header::{HeaderMap, LOCATION};
use std::time::Duration;
use tokio::time::timeout;

/// Most bytes of an error's body that are read.
const ERROR_BYTES: u64 = 64 * 1024;

/// What a server said that did not answer.
pub(super) async fn refused(response: Response, idle: Duration) -> Failed {
    let status = response.status().as_u16();
    let headers = response.headers();
    let wish = ServerWish {
        should_retry: header_text(headers, "x-should-retry"),
        retry_after_ms: header_text(headers, "retry-after-ms"),
        retry_after: header_text(headers, "retry-after"),
    };
    let location = header_text(headers, LOCATION.as_str());
    let (bytes, _) = whole_body(response, ERROR_BYTES, idle).await;
    let mut error = classify(status, &bytes);
    if let (300..400, Some(to)) = (status, location) {
        error = ModelError::Refused {
            status,
            message: format!("it redirects to {to}; set that as the base URL if you trust it"),
        };
    }
    if let ModelError::RateLimited { retry_after, .. } = &mut error {
        *retry_after = wish.wait(Timestamp::now());
    }
    Failed {
        error,
        failure: if is_spent(&bytes) { Failure::Spent } else { Failure::Status(status) },
        wish,
    }
}

pub(super) fn header_text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// The first `limit` bytes of a body, and what kept it from being whole.
pub(super) async fn whole_body(
    mut response: Response,
    limit: u64,
    idle: Duration,
) -> (Vec<u8>, Option<String>) {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut held = Vec::new();
    let problem = loop {
        match timeout(idle, response.chunk()).await {
            Ok(Ok(Some(bytes))) if held.len() + bytes.len() > limit => {
                held.extend(bytes.iter().take(limit - held.len()));
                break format!("the answer is larger than {limit} bytes");
            }
            Ok(Ok(Some(bytes))) => held.extend_from_slice(&bytes),
            Ok(Ok(None)) => return (held, None),
            Ok(Err(error)) => break format!("the connection failed ({})", error.without_url()),
            Err(_) => break format!("no data for {} s", idle.as_secs()),
        }
    };
    (held, Some(problem))
}
