//! Who may ask (W1). Every request passes here, and nothing behind it looks
//! again.
//!
//! - The Host header has to be ours: a name that somebody made point to
//!   loopback is not.
//! - The token of the printed address becomes a cookie that scripts cannot read
//!   and other sites cannot send.
//! - A change needs our own Origin and a word that only our own forms have, and
//!   there is none where the page is only for looking.
//! - The browser is told to run nothing but our script, and to show the page in
//!   no frame.

use crate::frame;
use crate::site::{PageAccess, Site};
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, ORIGIN, REFERRER_POLICY, SET_COOKIE,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use maud::html;
use std::sync::Arc;
use url::form_urlencoded;

/// Bytes of a form: a memory is far below.
const FORM_BYTES: usize = 1 << 20;

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const HEADERS: [(HeaderName, &str); 7] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    // With no referrer at all a browser would not name the Origin of a form.
    (REFERRER_POLICY, "same-origin"),
    (CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The hidden field of every form.
pub(crate) const FORM_KEY: &str = "key";

/// Looks at a request, and at what the answer lets a browser do.
pub(crate) async fn guard(State(site): State<Arc<Site>>, request: Request, next: Next) -> Response {
    let mut response = match admitted(&site, request).await {
        Ok(request) => next.run(request).await,
        Err(response) => *response,
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

type Turned<T> = Result<T, Box<Response>>;

async fn admitted(site: &Site, request: Request) -> Turned<Request> {
    let headers = request.headers();
    check_host(site, &request)?;
    if let Some(origin) = text(headers, &ORIGIN)
        && !site.gate.origins().any(|own| own == origin)
    {
        return Err(refuse(StatusCode::FORBIDDEN, "This request came from another page.").into());
    }
    if request.uri().path().starts_with(crate::asset::PREFIX) {
        return Ok(request);
    }
    if let Some(word) = door_word(&request) {
        return Err(enter(site, &word).into());
    }
    let has_cookie = cookies(headers)
        .any(|(name, value)| name == site.gate.cookie_name() && site.gate.cookie.is(value));
    if !has_cookie {
        let what =
            "Open the address that `everfold web` printed: it contains the key to this page.";
        return Err(refuse(StatusCode::UNAUTHORIZED, what).into());
    }
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(request);
    }
    changed(site, request).await
}

/// A request that changes something.
async fn changed(site: &Site, request: Request) -> Turned<Request> {
    if site.access() == PageAccess::ReadOnly {
        let what =
            "This page is read-only. To make changes, start `everfold web` without --read-only.";
        return Err(refuse(StatusCode::FORBIDDEN, what).into());
    }
    let headers = request.headers();
    let fetched = headers.get("sec-fetch-site").and_then(|value| value.to_str().ok());
    if text(headers, &ORIGIN).is_none() || fetched.is_some_and(|from| from != "same-origin") {
        return Err(refuse(StatusCode::FORBIDDEN, "This request came from another page.").into());
    }
    let (head, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, FORM_BYTES).await else {
        return Err(
            refuse(StatusCode::PAYLOAD_TOO_LARGE, "That is larger than a memory can be.").into()
        );
    };
    let mut fields = form_urlencoded::parse(&bytes);
    if !fields.any(|(name, value)| name == FORM_KEY && site.gate.form.is(&value)) {
        let what = "This form is out of date. Reload the page and try again.";
        return Err(refuse(StatusCode::FORBIDDEN, what).into());
    }
    Ok(Request::from_parts(head, Body::from(bytes)))
}

fn check_host(site: &Site, request: &Request) -> Turned<()> {
    let named = text(request.headers(), &HOST);
    let authority = request.uri().authority().map(Authority::as_str);
    let is_ours = |name: &str| site.gate.hosts().any(|own| own == name);
    if named.is_some_and(is_ours) && authority.is_none_or(is_ours) {
        return Ok(());
    }
    Err(refuse(StatusCode::MISDIRECTED_REQUEST, "This page is not served under that name.").into())
}

/// The token in the address.
fn door_word(request: &Request) -> Option<String> {
    let query = request.uri().query().filter(|_| request.uri().path() == "/")?;
    let mut fields = form_urlencoded::parse(query.as_bytes());
    fields.find(|(name, _)| name == "token").map(|(_, value)| value.into_owned())
}

/// The token becomes a cookie. The browser then goes on by itself: a redirect
/// would still be the other site's navigation where the address was clicked in
/// one, and the cookie would stay at home.
fn enter(site: &Site, word: &str) -> Response {
    if !site.gate.door.is(word) {
        let what = "That key is not valid. Open the address that `everfold web` printed.";
        return refuse(StatusCode::UNAUTHORIZED, what);
    }
    let cookie = format!(
        "{}={}; HttpOnly; SameSite=Strict; Path=/",
        site.gate.cookie_name(),
        site.gate.cookie.as_str()
    );
    let page = html! {
        (maud::DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content="0;url=/";
                title { "Everfold" }
                link rel="icon" href=(crate::asset::ICON) type="image/svg+xml";
            }
            body { p { a href="/" { "Continue to the page" } } }
        }
    };
    let mut response = page.into_response();
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

fn refuse(status: StatusCode, what: &str) -> Response {
    let body = html! { p class="lead" { (what) } };
    (status, frame::bare("No access", &body)).into_response()
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().unwrap_or("?"))
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let lines = headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';'));
    pairs.filter_map(|pair| pair.trim().split_once('='))
}
