//! `everfold config`: every setting, its value and who set it (C4).

use crate::args::ConfigArgs;
use crate::failure::Usage;
use crate::presenter::Presenter;
use crate::setup::{self, ProcessEnv};
use anyhow::Result;
use everfold_agent::settings::SettingRow;
use everfold_agent::settings::schema::settings_schema;

/// Shows settings, or their schema.
pub(crate) async fn run(env: &ProcessEnv, args: &ConfigArgs, presenter: &Presenter) -> Result<()> {
    if args.schema {
        return Ok(Presenter::json(&settings_schema())?);
    }
    let agent = setup::for_looking(env, &args.choices).await?;
    let rows: Vec<SettingRow> = agent.settings().explain().collect();
    let rows = match &args.key {
        Some(key) => below(rows, key)?,
        None => rows,
    };
    if args.json {
        return Ok(Presenter::json(&rows)?);
    }
    let cells = rows.iter().map(|row| {
        let value = if row.value.is_null() { "-".to_owned() } else { row.value.to_string() };
        vec![row.key.clone(), value, format!("({})", row.origin)]
    });
    Ok(presenter.table(&cells.collect::<Vec<_>>())?)
}

/// The rows of a key and of the keys below it.
fn below(rows: Vec<SettingRow>, key: &str) -> Result<Vec<SettingRow>> {
    let start = format!("{key}.");
    let found: Vec<SettingRow> =
        rows.into_iter().filter(|row| row.key == key || row.key.starts_with(&start)).collect();
    if found.is_empty() {
        let message = format!("unknown setting {key}");
        return Err(Usage::new(message, "`everfold config` lists them all").into());
    }
    Ok(found)
}
