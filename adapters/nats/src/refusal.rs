//! Why servers do not let us in, or do not let us do something, in words that
//! say what to change.
//!
//! The library that speaks to them hands on what TLS says as text; the tests
//! hold that its texts are still these.

use crate::connection::FleetLogin;
use async_nats::{ConnectError, ConnectErrorKind};
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

/// How a server begins to say that something is not allowed.
const VIOLATION: &str = "permissions violation for ";

/// What the servers did not allow last.
#[derive(Clone, Default)]
pub(crate) struct Violations(Arc<Mutex<Option<String>>>);

impl Violations {
    /// Hears what a server complains of.
    pub(crate) fn hear(&self, complaint: &str) {
        let lower = complaint.to_ascii_lowercase();
        let found = lower.find(VIOLATION).and_then(|at| complaint.get(at + VIOLATION.len()..));
        if let Some(what) = found {
            let what = what.trim_end_matches(['\'', ' ']).to_owned();
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
        }
    }

    /// What was not allowed since the last look, such as `publish to "x"`.
    pub(crate) fn take(&self) -> Option<String> {
        let found = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        found.map(|what| {
            let mut chars = what.chars();
            let first = chars.next().map(|first| first.to_ascii_lowercase());
            first.into_iter().chain(chars).collect()
        })
    }

    pub(crate) fn is_some(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// What is not set up there, where an error tells.
pub(crate) fn not_set_up(said: &str) -> Option<&'static str> {
    let has = |any: &[&str]| any.iter().any(|text| said.contains(text));
    if has(&["JetStream unavailable", "not enabled for account"]) {
        return Some(
            "JetStream is off there; it needs a jetstream block in the configuration, and so does \
             this user's account where there are accounts",
        );
    }
    let few = ["replicas > 1 not supported", "no suitable peers", "insufficient resources"];
    has(&few).then_some(
        "there are fewer servers than copies; `--replicas 3` needs a cluster of three, and \
         `--replicas 1` keeps one copy, which is lost with its server",
    )
}

/// Why there is no connection.
pub(crate) fn connecting(error: &ConnectError, login: &FleetLogin) -> String {
    let said = texts(error);
    match error.kind() {
        ConnectErrorKind::AuthorizationViolation => unknown_user(login),
        ConnectErrorKind::Authentication => unreadable_key(login),
        ConnectErrorKind::Dns => format!("{said}; check the name of the host"),
        ConnectErrorKind::ServerParse => {
            format!("{said}; an address is like nats://host:4222 or tls://host:4222")
        }
        _ => match tls(&said, login) {
            Some(why) => why,
            None if said.contains("Connection refused") => {
                "nothing listens there (connection refused)".to_owned()
            }
            None => said,
        },
    }
}

/// An error with its causes.
fn texts(error: &ConnectError) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let text = inner.to_string();
        if !said.contains(&text) {
            said = format!("{said}: {text}");
        }
        cause = inner.source();
    }
    said
}

fn unknown_user(login: &FleetLogin) -> String {
    let shown = login.credentials.as_ref().or(login.nkey.as_ref());
    match (shown, &login.credentials) {
        (None, _) => "it wants to know who this is; set everfold.fleet.credentials or \
                      everfold.fleet.nkey"
            .to_owned(),
        (Some(path), Some(_)) => format!(
            "it does not accept the credentials in {}; they may have expired, or been made for \
             other servers",
            path.display()
        ),
        (Some(path), None) => format!(
            "it does not know the NKey in {}; whoever runs it has to add its public key",
            path.display()
        ),
    }
}

fn unreadable_key(login: &FleetLogin) -> String {
    let path = login.nkey.as_ref().or(login.credentials.as_ref());
    let path = path.map_or_else(String::new, |path| format!("{} ", path.display()));
    format!("{path}holds no NKey seed, which begins with SU")
}

/// What TLS says, and what to do about it.
fn tls(said: &str, login: &FleetLogin) -> Option<String> {
    let has = |any: &[&str]| any.iter().any(|text| said.contains(text));
    let ca = || match &login.tls_ca {
        Some(path) => format!("by the CA in {} (everfold.fleet.tls_ca)", path.display()),
        None => "by a CA that is known here; set everfold.fleet.tls_ca to a file with the CA's \
                 certificate"
            .to_owned(),
    };
    let why = if has(&["UnknownIssuer", "BadSignature", "CaUsedAsEndEntity"]) {
        format!("its certificate is not signed {}", ca())
    } else if has(&["Expired", "certificate expired"]) {
        "its certificate has expired; whoever runs it has to renew it (or the clock here is wrong)"
            .to_owned()
    } else if has(&["NotValidYet", "not valid yet"]) {
        "its certificate is not valid yet; check the clocks here and there".to_owned()
    } else if has(&["NotValidForName", "not valid for name"]) {
        "its certificate is for another host; use an address that stands in it".to_owned()
    } else if has(&["CertificateRequired"]) {
        "it wants a certificate of ours; set everfold.fleet.tls_cert and everfold.fleet.tls_key"
            .to_owned()
    } else if has(&["UnknownCA", "BadCertificate", "CertificateUnknown", "DecryptError"]) {
        "it does not accept our certificate (everfold.fleet.tls_cert); it has to be signed by the \
         CA that the server names"
            .to_owned()
    } else if has(&["InvalidContentType", "corrupt message"]) {
        "it does not speak TLS; switch TLS on there, or write nats:// and leave out \
         everfold.fleet.tls_*"
            .to_owned()
    } else {
        return None;
    };
    Some(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f5_what_is_not_allowed_is_named_once() {
        let violations = Violations::default();
        violations.hear("slow consumer");
        assert!(!violations.is_some());
        violations.hear(r#"Permissions Violation for Publish to "$JS.API.INFO""#);
        assert_eq!(violations.take().as_deref(), Some(r#"publish to "$JS.API.INFO""#));
        assert_eq!(violations.take(), None);
    }
}
