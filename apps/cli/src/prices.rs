//! `everfold prices`: what models cost, and how the figures are renewed (PC10).

use crate::args::{Choices, PricesArgs};
use crate::failure::Refusal;
use crate::presenter::counted;
use crate::presenter::{Presenter, grouped};
use crate::setup::{self, ProcessEnv};
use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

/// Shows prices, or what settings a table in the form of `LiteLLM` comes to.
pub(crate) async fn run(env: &ProcessEnv, args: &PricesArgs, presenter: &Presenter) -> Result<()> {
    if let Some(path) = &args.from {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("{} cannot be read", path.display()))?;
        let table: Map<String, Value> = serde_json::from_str(&text)
            .with_context(|| format!("{} is not a JSON object", path.display()))?;
        let prices = converted(&table, &args.models);
        if prices.is_empty() {
            let hint = "use LiteLLM's model_prices_and_context_window_backup.json; --model \
                        selects models";
            return Err(Refusal::new("no prices found in that file", hint).into());
        }
        let count = prices.len();
        Presenter::json(&json!({"everfold": {"prices": prices}}))?;
        let told = format!(
            "{}: put this into settings.json, or name the file with --settings",
            counted(count as u64, "model")
        );
        presenter.note(crate::presenter::TextStyle::Dim, &told);
        return Ok(());
    }
    let agent = setup::for_looking(env, &Choices::default()).await?;
    let config = agent.config();
    let models = config.models.table.iter().filter(|(name, _)| {
        args.models.is_empty() || args.models.iter().any(|own| name.contains(own.as_str()))
    });
    if args.json {
        let all: Map<String, Value> = models
            .map(|(name, spec)| (name.to_owned(), json!({"window": spec.window, "prices": spec.prices, "long_prices": spec.long_prices})))
            .collect();
        return Ok(Presenter::json(&all)?);
    }
    let head = ["model", "window", "input", "read", "write 5m", "write 1h", "output"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (name, spec) in models {
        let window = spec.window.map_or_else(|| "?".to_owned(), grouped);
        let mut row = vec![name.to_owned(), window];
        match &spec.prices {
            Some(own) => row.extend(
                [own.input, own.cache_read, own.cache_write_5m, own.cache_write_1h, own.output]
                    .map(|usd| format!("{usd:.3}")),
            ),
            None => row.push("no price".to_owned()),
        }
        rows.push(row);
    }
    presenter.line("US dollars per million tokens")?;
    Ok(presenter.table(&rows)?)
}

/// Entries of `LiteLLM`'s table as ours; each model by its bare name.
fn converted(table: &Map<String, Value>, wanted: &[String]) -> Map<String, Value> {
    let mut found = Map::new();
    for (name, entry) in table {
        let is_wanted = wanted.is_empty() || wanted.iter().any(|own| name.contains(own.as_str()));
        let per_million = |key: &str| entry.get(key)?.as_f64().map(|usd| usd * 1_000_000.0);
        let (Some(input), Some(output)) =
            (per_million("input_cost_per_token"), per_million("output_cost_per_token"))
        else {
            continue;
        };
        if !is_wanted || name.contains('/') {
            continue;
        }
        let read = per_million("cache_read_input_token_cost").unwrap_or(input);
        let five = per_million("cache_creation_input_token_cost").unwrap_or(input);
        let hour = per_million("cache_creation_input_token_cost_above_1hr").unwrap_or(five);
        let own = json!({"input": input, "cache_read": read, "cache_write_5m": five,
            "cache_write_1h": hour, "output": output});
        found.insert(name.clone(), own);
    }
    found
}
