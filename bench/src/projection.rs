//! One more turn at a million tokens, within a running process.

use crate::table::{Samples, Section, Table, us, verdict};
use anyhow::{Context, Result};
use everfold_bench::step::{CacheAge, StepBench};
use std::hint::black_box;
use std::time::{Duration, Instant};

const RUNS: usize = 100;
const GOAL: Duration = Duration::from_millis(5);
const LAYERS_GOAL: Duration = Duration::from_millis(1);

/// From a tool's result to the request.
pub(crate) fn measure() -> Result<Section> {
    let mut desk = StepBench::new();
    let [mut push, mut layers, mut request, mut whole] =
        std::array::from_fn(|_| Samples::default());
    let mut bytes = 0;
    for _ in 0..RUNS {
        let result = desk.call();
        let began = Instant::now();
        desk.fold.push(result);
        let pushed = began.elapsed();
        black_box((desk.offload(), desk.prune(CacheAge::Warm)));
        let decided = began.elapsed();
        let made = desk.request().context("there is not a request")?;
        let done = began.elapsed();
        bytes = made.body.len();
        push.add(pushed);
        layers.add(decided.saturating_sub(pushed));
        request.add(done.saturating_sub(decided));
        whole.add(done);
    }
    let mut table = Table::new(&["step", "best", "median", "worst", "goal", "met"]);
    let parts = [
        ("the result joins the fold", &push),
        ("layers 1 and 2", &layers),
        ("the request's bytes", &request),
    ];
    for (name, samples) in parts {
        table.row(row(name, samples, String::new(), String::new()));
    }
    let met = verdict(whole.best() < GOAL);
    table.row(row("together", &whole, "< 5 ms".into(), met));
    Ok(Section {
        title: "Projection",
        goal: "with 5,000 messages (1,000,000 tokens), the work between a tool's result and the \
               request being ready is under 5 ms.",
        table,
        notes: format!(
            "In one process, warm, {RUNS} turns one after another; the last request has {bytes} bytes."
        ),
    })
}

/// Layers 1 and 2 alone, and the sum of E4.
#[expect(clippy::unnecessary_wraps, reason = "one of several that are called alike")]
pub(crate) fn measure_layers() -> Result<Section> {
    let mut desk = StepBench::new();
    let mut table =
        Table::new(&["prompt cache", "layer", "best", "median", "worst", "goal", "met"]);
    for (name, cache) in [("warm", CacheAge::Warm), ("cold", CacheAge::Cold)] {
        let [mut offload, mut prune, mut sum, mut all] =
            std::array::from_fn(|_| Samples::default());
        for _ in 0..RUNS {
            let result = desk.call();
            desk.fold.push(result);
            let began = Instant::now();
            black_box(desk.offload());
            let first = began.elapsed();
            black_box(desk.prune(cache));
            let second = began.elapsed();
            black_box(desk.sum(cache));
            let third = began.elapsed();
            offload.add(first);
            prune.add(second.saturating_sub(first));
            sum.add(third.saturating_sub(second));
            all.add(third);
        }
        let met = verdict(all.median() < LAYERS_GOAL);
        for (layer, samples, goal, met) in [
            ("1 offload", &offload, "", String::new()),
            ("2 prune", &prune, "", String::new()),
            ("the sum", &sum, "", String::new()),
            ("all", &all, "< 1 ms", met),
        ] {
            let [layer, best, median, worst, goal, met] = row(layer, samples, goal.into(), met);
            table.row([name.to_owned(), layer, best, median, worst, goal, met]);
        }
    }
    Ok(Section {
        title: "Layers 1 and 2",
        goal: "together under 1 ms for each request at 1,000,000 tokens, the sum that says \
               whether the past is summed up included.",
        table,
        notes: format!(
            "In one process, {RUNS} turns for each row. With a cold cache layer 2 weighs all 1,250 \
             results and decides to clear nearly all of them; with a warm one it finds that nothing pays."
        ),
    })
}

fn row(name: &str, samples: &Samples, goal: String, met: String) -> [String; 6] {
    [name.into(), us(samples.best()), us(samples.median()), us(samples.worst()), goal, met]
}
