//! `/model`: which one answers; one that nobody knows is questioned (U8).

use super::{CommandContext, Flow, tables};
use crate::nearest::{nearest, unknown};
use crate::presenter::TextStyle;
use crate::setup;
use anyhow::Result;
use everfold_agent::engine::setups::hooks::model_switch;
use everfold_kernel::ModelId;

pub(super) async fn run(cx: &mut CommandContext, name: &str) -> Result<Flow> {
    if name.is_empty() {
        tables::show(&tables::models(&cx.agent), &cx.presenter)?;
    } else if let Some(told) = questioned(cx, name).await {
        cx.presenter.note(TextStyle::Yellow, &told);
    } else {
        let name = name.strip_suffix(ANYWAY).unwrap_or(name).trim_end();
        let stop = cx.stop.clone();
        let changed =
            model_switch::change_model(&mut cx.session, &ModelId::new(name), "command", &stop)
                .await;
        if let Err(why) = changed {
            cx.presenter.note(TextStyle::Yellow, &why.to_string());
        }
    }
    let model = setup::model_name(&cx.agent, &cx.session);
    cx.presenter.line(&format!("model: {model}"))?;
    Ok(Flow::GoOn)
}

/// What takes a model that is not known.
const ANYWAY: &str = "--anyway";

/// A doubt about a model that nobody knows (U8): the server's own list stands
/// over our table. It is asked anew, since a model may have come since the start.
async fn questioned(cx: &CommandContext, name: &str) -> Option<String> {
    let config = cx.session.config();
    if name.ends_with(ANYWAY) || config.models.model.as_str() == name {
        return None;
    }
    let asked = cx.agent.ask_server().await.ok().flatten();
    let served = asked.as_ref().unwrap_or_else(|| cx.agent.served());
    let plain = name.strip_suffix("[1m]").unwrap_or(name);
    let told = if served.models.is_empty() {
        if config.models.table.knows(&ModelId::new(plain)) {
            return None;
        }
        let names = config.models.table.iter().map(|(name, _)| name);
        unknown(&format!("unknown model {name}"), nearest(plain, names))
    } else {
        let names: Vec<&str> = served.models.iter().map(|model| model.id.as_str()).collect();
        if names.contains(&name) {
            return None;
        }
        let near = nearest(name, names.iter().copied());
        let has = near.map_or_else(|| format!(" (it has {})", names.join(", ")), |_| String::new());
        unknown(&format!("the server has no model {name}{has}"), near)
    };
    Some(format!("{told} To use it anyway: /model {name} {ANYWAY}"))
}
