//! One more turn at a million tokens, by divan: `cargo bench -p everfold-bench`.

use divan::Bencher;
use everfold_bench::step::{CacheAge, StepBench};
use std::cell::RefCell;

fn main() {
    divan::main();
}

#[divan::bench(sample_count = 50, sample_size = 1)]
fn from_a_result_to_the_request(bencher: Bencher<'_, '_>) {
    let desk = RefCell::new(StepBench::new());
    bencher.with_inputs(|| desk.borrow_mut().call()).bench_local_values(|result| {
        let mut desk = desk.borrow_mut();
        desk.fold.push(result);
        divan::black_box(desk.offload());
        divan::black_box(desk.prune(CacheAge::Warm));
        desk.request()
    });
}

#[divan::bench(args = [CacheAge::Warm, CacheAge::Cold])]
fn layers_1_and_2(bencher: Bencher<'_, '_>, cache: CacheAge) {
    let mut desk = StepBench::new();
    let result = desk.call();
    desk.fold.push(result);
    bencher.bench_local(|| (desk.offload(), desk.prune(cache)));
}
