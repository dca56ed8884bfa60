//! The style sheet and the script, which are part of the program.

use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;

pub(crate) const PREFIX: &str = "/asset/";
pub(crate) const STYLE: &str = "/asset/page.css";
pub(crate) const SCRIPT: &str = "/asset/live.js";
pub(crate) const ICON: &str = "/asset/icon.svg";

pub(crate) async fn style() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("assets/page.css"))
}

pub(crate) async fn script() -> impl IntoResponse {
    ([(CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("assets/live.js"))
}

pub(crate) async fn icon() -> impl IntoResponse {
    ([(CONTENT_TYPE, "image/svg+xml")], include_str!("assets/icon.svg"))
}
