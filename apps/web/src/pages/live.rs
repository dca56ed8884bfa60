//! Following a session that goes on: a word to the page whenever its file has
//! grown (W2).

use super::{book, session_row};
use crate::error::Error;
use crate::frame::Tab;
use crate::site::Site;
use axum::extract::{Path, Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use serde::Deserialize;
use std::convert::Infallible;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// How often the file is looked at.
const BEAT: Duration = Duration::from_millis(700);

/// What the page has shown.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Shown {
    /// Bytes of the file.
    from: Option<u64>,
}

type Mark = Option<(u64, SystemTime)>;

pub(crate) async fn follow(
    State(site): State<Arc<Site>>,
    Path(key): Path<String>,
    Query(shown): Query<Shown>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Error> {
    let path = site
        .blocking(move |site| {
            let book =
                book(site, Tab::Sessions, "").map_err(|_| Error::none("such session yet"))?;
            let row = &session_row(site, &book, &key)?;
            Ok(row.path.clone())
        })
        .await?;
    // What came between the page and this is told at once.
    let seen = mark(&path).filter(|(bytes, _)| shown.from.is_none_or(|from| from == *bytes));
    let beats = stream::unfold((path, seen), next);
    Ok(Sse::new(beats).keep_alive(KeepAlive::default()))
}

/// Waits until the file is another.
async fn next(
    (path, seen): (PathBuf, Mark),
) -> Option<(Result<Event, Infallible>, (PathBuf, Mark))> {
    loop {
        tokio::time::sleep(BEAT).await;
        let now = mark(&path);
        if now != seen {
            return Some((Ok(Event::default().event("changed").data("1")), (path, now)));
        }
    }
}

fn mark(path: &FilePath) -> Mark {
    let about = path.metadata().ok()?;
    Some((about.len(), about.modified().ok()?))
}
