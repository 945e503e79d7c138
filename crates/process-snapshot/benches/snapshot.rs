//! Times of a reset and of a fork, the two things that happen once an invocation and once a worker.
//!
//! `cargo bench -p process-snapshot`. Prints medians; there are no thresholds, since they would measure the machine.

#![allow(
    clippy::allow_attributes,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints what it measured, and stops at any error"
)]

use std::time::{Duration, Instant};

use process_snapshot::{ForkServer, SnapshotRuntime};
use rquickjs::{Context, context::intrinsic};
use tokio::io::AsyncReadExt as _;

const ROUNDS: usize = 2000;
const FORKS: usize = 200;

/// Name, and code that runs before each reset.
const CASES: [(&str, &str); 3] = [
    ("no code", ""),
    ("a small object", "({ id: 1, name: 'a' })"),
    ("10,000 objects", "globalThis.kept = Array.from({ length: 10000 }, (_, at) => ({ at })); 0"),
];

/// A runtime with a global of some hundred kilobytes.
fn runtime() -> (Context, SnapshotRuntime) {
    let runtime = SnapshotRuntime::new(64 << 20).unwrap();
    let context = runtime.metered().new_context::<intrinsic::All>().unwrap();
    let setup = "globalThis.table = Array.from({ length: 5000 }, (_, at) => ({ at }));";
    context.with(|ctx| ctx.eval::<(), _>(setup)).unwrap();
    runtime.freeze();
    (context, runtime)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn measure_resets(name: &str, (context, runtime): &(Context, SnapshotRuntime)) {
    for (case, code) in CASES {
        let (mut runs, mut resets) = (Vec::with_capacity(ROUNDS), Vec::with_capacity(ROUNDS));
        for _ in 0..ROUNDS {
            let begin = Instant::now();
            context.with(|ctx| ctx.eval::<(), _>(code)).unwrap();
            runs.push(begin.elapsed());
            let begin = Instant::now();
            runtime.reset();
            resets.push(begin.elapsed());
        }
        println!("{name}, {case}: code {:?}, reset {:?}", median(runs), median(resets));
    }
}

async fn measure_forks() {
    let program = env!("CARGO_BIN_EXE_process-snapshot-worker");
    let mut server = ForkServer::new(program.into(), vec!["serve".into()]);
    let mut times = Vec::with_capacity(FORKS);
    let mut first = None;
    for _ in 0..FORKS {
        let begin = Instant::now();
        let mut worker = server.fork().unwrap();
        worker.stdout.read_u8().await.unwrap();
        first.get_or_insert(begin.elapsed());
        times.push(begin.elapsed());
    }
    println!("fork until the worker writes: {:?}, the first {:?}", median(times), first.unwrap_or_default());
}

fn main() {
    let tracked = runtime();
    assert!(tracked.1.tracks_dirty_pages());
    measure_resets("written pages", &tracked);
    // The thread tracks one runtime already.
    let untracked = runtime();
    assert!(!untracked.1.tracks_dirty_pages());
    measure_resets("all pages", &untracked);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(measure_forks());
}
