//! What a server tells of its window by refusing a request.

use crate::config::Config;
use crate::session::{Error, Session, prelude};
use everfold_kernel::record::Dialect;
use everfold_kernel::{Decision, Entry, Window};
use std::sync::Arc;

/// Takes over the window that a server of one's own tells by refusing (Q15).
/// What a person set stands over it. True where the fixed prompt is another for
/// it.
pub(super) async fn learn_window(
    session: &mut Session,
    maximum: Option<u64>,
) -> Result<bool, Error> {
    let (window, model) = (session.window(), session.model().clone());
    let Some(maximum) = maximum.filter(|maximum| *maximum < window.size.0) else {
        return Ok(false);
    };
    if session.world.model.dialect() != Dialect::OpenAi {
        return Ok(false);
    }
    let before = session.config.profile(&model);
    let mut config = Config::clone(&session.config);
    config.models.table = config.models.table.clone().with_windows([(model.as_str(), maximum)]);
    session.config = Arc::new(config);
    let fresh = prelude::compose_prelude_for(session, &model)?;
    if session.state.fold.prelude().is_some_and(|own| *own != fresh) {
        session.append(Entry::Decision(Decision::Prelude(Box::new(fresh)))).await?;
    }
    Ok(session.config.profile(&model) != before)
}

/// The window as the server sees it, where it is smaller than we thought.
pub(super) fn narrowed(session: &Session, maximum: Option<u64>) -> Window {
    let (window, models) = (session.window(), &session.config.models);
    let Some(maximum) = maximum else { return window };
    let spec = models.table.spec(session.model());
    window.at_most(maximum, spec, &models.window, &session.config.limits)
}
