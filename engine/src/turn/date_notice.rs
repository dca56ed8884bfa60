//! The date, told when it changed (L5.22).
//!
//! The system prompt has the day on which the session started and stays as it
//! is. When another day has come, the model is told once, in what is appended;
//! a session that is taken up again after days learns of it the same way.

use crate::session::{Error, Session};
use everfold_prefix::system::tells_date;
use serde_json::{Value, json};

/// The kind of the attachment that says which day it is now.
const DATE_CHANGE: &str = "date_change";

/// Tells the model which day it is, if it was told another one.
pub(crate) async fn tell_date(session: &mut Session) -> Result<(), Error> {
    let today = session.world.clock.today().to_string();
    let at_start = session.state.fold.prelude().is_some_and(|own| tells_date(&own.system, &today));
    let since = |data: &Value| data.get("date").and_then(Value::as_str) == Some(&today);
    if at_start || session.state.shown_data(DATE_CHANGE).any(since) {
        return Ok(());
    }
    let text = format!(
        "Another day has begun: today is {today}. Go by this date from here on, also where \
         a file is named for the day. Speak of it only where it matters."
    );
    session.attach(DATE_CHANGE, &text, json!({ "date": today })).await
}
