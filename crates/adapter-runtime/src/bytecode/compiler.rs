//! Compilation of a bundle. QuickJS trusts bytecode, so a process compiles that has run no app code, and runs none afterwards.

use std::{collections::BTreeMap, time::Duration};

use futures::StreamExt as _;
use process_snapshot::Priority;
use runs::engine::{Bundle, Failure, FailureCode, InvocationLimits};
use tokio::{
    io::AsyncWriteExt as _,
    time::{Instant, sleep_until},
};

use super::Bytecode;
use crate::{
    exchange::{WorkerLoss, lost_worker_failure},
    pool::WorkerLease,
    protocol::{Fault, FromWorker, JobLimits, LONG_COMPUTATION, ToWorker, has_typescript},
    worker_process::WorkerProcess,
};

/// Limits of a compilation. The process keeps the one of memory; the parser checks no other.
const LIMITS: InvocationLimits = InvocationLimits {
    wall_time: Duration::from_secs(20),
    cpu_time: Duration::from_secs(2),
    memory_bytes: 64 << 20,
    log_lines: 0,
    host_calls: 0,
    output_bytes: 0,
    streamed_bytes: 0,
};

/// Time between two looks at the processor time of a compilation that takes long.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Compiles a bundle for the holder of a lease, whose share pays for the processor time. The time counts for no limit of an
/// invocation.
///
/// # Errors
/// [`FailureCode::InvalidBundle`] if the code does not compile, and the failures of a process that is stopped or lost.
pub(crate) async fn compile(lease: &WorkerLease, bundle: &Bundle) -> Result<Bytecode, Failure> {
    let started_at = Instant::now();
    let mut process = lease.fresh_worker().await?;
    let build = process.build;
    match run(&mut process, bundle.files()).await {
        Ok(modules) => {
            let modules = modules?;
            let (bytes, micros) = (modules.len(), started_at.elapsed().as_micros());
            tracing::debug!(version = %bundle.version(), bytes, micros, "compiled an app");
            Ok(Bytecode { build, modules })
        }
        Err(lost) => Err(lost_worker_failure(&process, lease, lost, &LIMITS).await),
    }
}

async fn run(
    process: &mut WorkerProcess,
    files: &BTreeMap<String, String>,
) -> Result<Result<bytes::Bytes, Failure>, WorkerLoss> {
    let mut is_stripping = has_typescript(files);
    if !process.queue(&ToWorker::Compile { files: files.clone(), limits: JobLimits::from(&LIMITS) }) {
        let fault = Fault::new(FailureCode::InvalidBundle, "the code is too large to be compiled");
        return Ok(Err(fault.into()));
    }
    let started_at = Instant::now();
    let mut next_check = std::pin::pin!(sleep_until(started_at + LONG_COMPUTATION));
    loop {
        tokio::select! {
            biased;
            () = &mut next_check => {
                if started_at.elapsed() >= LIMITS.wall_time {
                    return Err(WorkerLoss::WallTimeExceeded);
                }
                // None if it is gone; the end of its output reports that.
                if process.charge_cpu_time().is_some_and(|used| used >= LIMITS.cpu_time) {
                    return Err(WorkerLoss::CpuTimeExceeded);
                }
                process.lower_priority(Priority::Low);
                process.enforce_fair_share();
                next_check.as_mut().reset(Instant::now() + CHECK_INTERVAL);
            }
            frame = process.frames.next() => {
                let lost = if is_stripping { WorkerLoss::StrippingTypes } else { WorkerLoss::Broken };
                let frame = frame.and_then(Result::ok).ok_or(lost)?;
                match FromWorker::decode(&frame.freeze()) {
                    Some(FromWorker::TypesStripped) if is_stripping => is_stripping = false,
                    Some(FromWorker::Compiled(compiled)) => return Ok(compiled.map_err(Failure::from)),
                    _ => return Err(WorkerLoss::Broken),
                }
            }
            written = process.stdin.write_buf(&mut process.outgoing), if !process.outgoing.is_empty() => {
                if written.is_err() {
                    // The worker is gone; the end of its output reports that.
                    process.outgoing.clear();
                }
            }
        }
    }
}
