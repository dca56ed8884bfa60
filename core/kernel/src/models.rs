//! The model table: windows, output limits, cache minimums, prices.
//!
//! Figures are those of the public documentation; settings override any of
//! them (`everfold.models`, `everfold.prices`), and what is not in the table gets
//! cautious defaults and no price.

mod builtin;
mod vendors;

use crate::ids::ModelId;
use crate::usage::Usage;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// US dollars.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Usd(pub f64);

/// Dollars per million tokens, by kind, and per million searches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prices {
    /// Uncached prompt tokens.
    pub input: f64,
    /// Writing to the 5-minute cache.
    pub cache_write_5m: f64,
    /// Writing to the 1-hour cache.
    pub cache_write_1h: f64,
    /// Reading from the cache.
    pub cache_read: f64,
    /// Output tokens.
    pub output: f64,
    /// A million searches of the web by the provider.
    #[serde(default = "web_searches")]
    pub web_searches: f64,
}

/// Ten dollars for a thousand searches.
const fn web_searches() -> f64 {
    10_000.0
}

impl Prices {
    const fn per_million(input: f64, read: f64, output: f64) -> Self {
        Self {
            input,
            cache_write_5m: input * 1.25,
            cache_write_1h: input * 2.0,
            cache_read: read,
            output,
            web_searches: web_searches(),
        }
    }

    /// What a response cost that used this.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
    pub fn cost(&self, usage: &Usage) -> Usd {
        let sum = usage.input as f64 * self.input
            + usage.cache_read as f64 * self.cache_read
            + usage.cache_write_5m as f64 * self.cache_write_5m
            + usage.cache_write_1h as f64 * self.cache_write_1h
            + usage.output as f64 * self.output
            + usage.web_searches as f64 * self.web_searches;
        Usd(sum / 1_000_000.0)
    }
}

/// Prices that apply to a whole request once its prompt is over a size.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LongPrices {
    /// Prompts over this many tokens pay the prices below.
    pub above: u64,
    /// Those prices.
    pub prices: Prices,
}

/// How a model is asked to think.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Thinking {
    /// Not asked for.
    #[default]
    Off,
    /// The model decides (`adaptive`).
    Adaptive,
    /// With a budget of tokens (`enabled`).
    Budget,
}

/// What is known of one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelSpec {
    /// Tokens that a request and its answer may hold together; none if unknown.
    pub window: Option<u64>,
    /// Most tokens of one answer.
    pub max_output: u64,
    /// Shortest prefix that the server caches.
    pub cache_minimum: u64,
    /// How it thinks.
    pub thinking: Thinking,
    /// Whether it takes pictures and PDFs.
    pub images: bool,
    /// Prices, if known.
    pub prices: Option<Prices>,
    /// Prices of long prompts, where they differ.
    pub long_prices: Option<LongPrices>,
}

impl Default for ModelSpec {
    fn default() -> Self {
        Self {
            window: None,
            max_output: 32_000,
            cache_minimum: 1_024,
            thinking: Thinking::Off,
            images: true,
            prices: None,
            long_prices: None,
        }
    }
}

impl ModelSpec {
    /// What these tokens cost with this model, if it has a price.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Option<Usd> {
        self.prices_for(usage.prompt().0).map(|prices| prices.cost(usage))
    }

    /// The prices of a request whose prompt has this many tokens.
    #[must_use]
    pub fn prices_for(&self, prompt: u64) -> Option<&Prices> {
        match &self.long_prices {
            Some(long) if prompt > long.above => Some(&long.prices),
            _ => self.prices.as_ref(),
        }
    }
}

/// Overrides of one model's entry (`everfold.models.<id>`); what is unset stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ModelOverride {
    /// Tokens of the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Most tokens of one answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// Shortest prefix that the server caches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_minimum: Option<u64>,
    /// How it thinks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// Whether it takes pictures and PDFs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
}

/// All models that are known.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelTable {
    specs: BTreeMap<String, ModelSpec>,
}

/// The suffix by which a person asks for the long window of a model.
pub const LONG_WINDOW_SUFFIX: &str = "[1m]";

impl ModelTable {
    /// The table of the public documentation.
    #[must_use]
    pub fn builtin() -> Self {
        let mut table = Self { specs: BTreeMap::new() };
        for row in builtin::ROWS.iter().chain(vendors::ROWS) {
            let spec = ModelSpec {
                window: Some(row.window),
                max_output: row.max_output,
                cache_minimum: row.cache_minimum,
                thinking: row.thinking,
                images: row.ids != ["offline"],
                prices: row.prices,
                long_prices: row.long_prices,
            };
            for id in row.ids {
                table.specs.insert((*id).to_owned(), spec.clone());
            }
        }
        table
    }

    /// Takes over windows that a server told of its models.
    #[must_use]
    pub fn with_windows<'a>(mut self, windows: impl IntoIterator<Item = (&'a str, u64)>) -> Self {
        for (id, window) in windows {
            let spec = ModelSpec { window: Some(window), ..self.spec(&ModelId::new(id)).clone() };
            self.specs.insert(id.to_owned(), spec);
        }
        self
    }

    /// Applies the overrides of settings.
    #[must_use]
    pub fn with_overrides(
        mut self,
        models: &BTreeMap<String, ModelOverride>,
        prices: &BTreeMap<String, Prices>,
    ) -> Self {
        for (id, change) in models {
            let mut spec = self.spec(&ModelId::new(id)).clone();
            spec.window = change.window.or(spec.window);
            spec.max_output = change.max_output.unwrap_or(spec.max_output);
            spec.cache_minimum = change.cache_minimum.unwrap_or(spec.cache_minimum);
            spec.thinking = change.thinking.unwrap_or(spec.thinking);
            spec.images = change.images.unwrap_or(spec.images);
            self.specs.insert(id.clone(), spec);
        }
        for (id, price) in prices {
            let mut spec = self.spec(&ModelId::new(id)).clone();
            spec.prices = Some(*price);
            spec.long_prices = None;
            self.specs.insert(id.clone(), spec);
        }
        self
    }

    /// What is known of a model: by its exact name, else without its `[1m]`
    /// suffix and date, else the cautious defaults.
    #[must_use]
    pub fn spec(&self, model: &ModelId) -> &ModelSpec {
        self.find(model).unwrap_or(&UNKNOWN)
    }

    /// Whether more than the cautious defaults is known of a model.
    #[must_use]
    pub fn knows(&self, model: &ModelId) -> bool {
        self.find(model).is_some()
    }

    fn find(&self, model: &ModelId) -> Option<&ModelSpec> {
        let name = model.as_str();
        let plain = name.strip_suffix(LONG_WINDOW_SUFFIX).unwrap_or(name);
        let spec = self.specs.get(name).or_else(|| self.specs.get(plain));
        spec.or_else(|| self.specs.get(without_date(plain)))
    }

    /// Whether a model thinks whatever it is told, and by its own measure.
    #[must_use]
    pub fn always_thinks(&self, model: &ModelId) -> bool {
        builtin::ALWAYS_THINK.contains(&plain_name(model))
    }

    /// How thinking is turned off where a model thinks by itself.
    #[must_use]
    pub fn thinking_off(&self, model: &ModelId) -> &'static str {
        if plain_name(model) == "claude-sonnet-5-5" { "between_tools" } else { "disabled" }
    }

    /// Every model of the table, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ModelSpec)> {
        self.specs.iter().map(|(id, spec)| (id.as_str(), spec))
    }
}

fn plain_name(model: &ModelId) -> &str {
    let name = model.as_str();
    without_date(name.strip_suffix(LONG_WINDOW_SUFFIX).unwrap_or(name))
}

/// `claude-haiku-4-5-20251001` is `claude-haiku-4-5`.
fn without_date(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((rest, date)) if date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit()) => rest,
        _ => name,
    }
}

static UNKNOWN: ModelSpec = ModelSpec {
    window: None,
    max_output: 32_000,
    cache_minimum: 1_024,
    thinking: Thinking::Off,
    images: true,
    prices: None,
    long_prices: None,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t6_a_long_haiku_prompt_pays_the_long_price_for_the_whole_request() {
        let table = ModelTable::builtin();
        let spec = table.spec(&"claude-haiku-5-5".into());
        let short = Usage { input: 100_000, ..Usage::default() };
        let long = Usage { input: 100_001, ..Usage::default() };
        assert!((spec.cost(&short).unwrap().0 - 0.01).abs() < 1e-9);
        assert!((spec.cost(&long).unwrap().0 - 0.050_000_5).abs() < 1e-9);
    }

    #[test]
    fn t3_dates_and_suffixes_do_not_hide_a_model() {
        let table = ModelTable::builtin();
        assert_eq!(table.spec(&"claude-haiku-4-5-20251001".into()).window, Some(200_000));
        assert_eq!(table.spec(&"claude-sonnet-4-5[1m]".into()).max_output, 64_000);
        assert_eq!(table.spec(&"llama-4".into()), &ModelSpec::default());
    }

    #[test]
    fn t6_settings_override_prices_and_windows() {
        let models = BTreeMap::from([(
            "llama-4".to_owned(),
            ModelOverride { window: Some(32_768), ..ModelOverride::default() },
        )]);
        let prices =
            BTreeMap::from([("claude-sonnet-5-5".to_owned(), Prices::per_million(1.0, 0.1, 2.0))]);
        let table = ModelTable::builtin().with_overrides(&models, &prices);
        assert_eq!(table.spec(&"llama-4".into()).window, Some(32_768));
        let cost = table
            .spec(&"claude-sonnet-5-5".into())
            .cost(&Usage { output: 1_000_000, ..Usage::default() });
        assert_eq!(cost, Some(Usd(2.0)));
    }
}
