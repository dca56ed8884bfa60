//! Providers against a server on the loopback that sends canned bytes.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

mod anthropic;
mod failures;
mod key;
mod offline;
mod openai;
mod server;
mod waits;

use everfold_kernel::Secret;
use everfold_kernel::ports::{Model, ModelCall, ModelError, ModelEvent};
use everfold_kernel::{Block, Limits, QuerySource};
use everfold_provider::{AnthropicProvider, ProviderConfig};
use futures_util::StreamExt;
use std::time::Duration;

const KEY: &str = "sk-test-0123456789";

fn limits() -> Limits {
    Limits { max_retries: 3, retry_base_ms: 1, retry_max_ms: 2, ..Limits::default() }
}

fn config(url: &str) -> ProviderConfig {
    ProviderConfig {
        base_url: url.into(),
        limits: limits(),
        ..ProviderConfig::anthropic(Secret::new(KEY))
    }
}

fn call(body: &str) -> ModelCall {
    ModelCall {
        body: body.to_owned().into(),
        betas: vec!["b-2".into(), "b-1".into()],
        source: QuerySource::Main,
        cache: None,
    }
}

/// All events of a call, and how it ended.
async fn events(model: &dyn Model, call: ModelCall) -> (Vec<ModelEvent>, Option<ModelError>) {
    let run = async {
        let mut stream = match model.call(call).await {
            Ok(stream) => stream,
            Err(error) => return (Vec::new(), Some(error)),
        };
        let mut out = Vec::new();
        while let Some(item) = stream.next().await {
            match item {
                Ok(event) => out.push(event),
                Err(error) => return (out, Some(error)),
            }
        }
        (out, None)
    };
    tokio::time::timeout(Duration::from_secs(20), run).await.expect("the call must end")
}

/// Asks an Anthropic provider at this address.
async fn ask(url: &str) -> (Vec<ModelEvent>, Option<ModelError>) {
    let provider = AnthropicProvider::new(&config(url)).unwrap();
    events(&provider, call("{}")).await
}

/// The blocks that count: those after the last restart.
fn blocks(events: &[ModelEvent]) -> Vec<Block> {
    let mut blocks = Vec::new();
    for event in events {
        match event {
            ModelEvent::Restarted { .. } => blocks.clear(),
            ModelEvent::Block { block, .. } => blocks.push(block.clone()),
            _ => {}
        }
    }
    blocks
}

fn count(events: &[ModelEvent], wanted: impl Fn(&ModelEvent) -> bool) -> usize {
    events.iter().filter(|event| wanted(event)).count()
}

fn retries(events: &[ModelEvent]) -> usize {
    count(events, |event| matches!(event, ModelEvent::Retrying { .. }))
}

fn restarts(events: &[ModelEvent]) -> usize {
    count(events, |event| matches!(event, ModelEvent::Restarted { .. }))
}
