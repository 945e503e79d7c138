//! Workers that cannot be used again.

use runs::engine::{Failure, FailureCode, InvocationLimits};

use crate::{pool::WorkerLease, protocol::MAX_CPU, worker_process::WorkerProcess};

/// Reasons why a process cannot be used again.
pub(crate) enum WorkerLoss {
    /// It did not stop at its wall-clock limit.
    WallTimeExceeded,
    /// It did not stop at its limit of processor time.
    CpuTimeExceeded,
    /// It ended while it stripped types: the parser recurses, so that deep nesting overflows its stack.
    StrippingTypes,
    /// It ended, or sent a message that no worker sends.
    Broken,
}

/// Returns the failure of an invocation whose process was lost, and replaces the fork server if the process broke.
pub(crate) async fn lost_worker_failure(
    process: &WorkerProcess,
    lease: &WorkerLease,
    lost: WorkerLoss,
    limits: &InvocationLimits,
) -> Failure {
    let fail = |code, message| Failure { code, message, host_code: None };
    let worker = process.pid();
    match lost {
        WorkerLoss::WallTimeExceeded => {
            tracing::info!(worker, "a worker was killed at its wall limit");
            fail(
                FailureCode::Timeout,
                format!("the code took longer than {} ms", limits.wall_time.as_millis()),
            )
        }
        WorkerLoss::CpuTimeExceeded => {
            tracing::info!(worker, "a worker was killed at its limit of processor time");
            let most = limits.cpu_time.min(MAX_CPU).as_millis();
            fail(FailureCode::CpuExceeded, format!("the code used more than {most} ms of processor time"))
        }
        // No code ran, so that none can have learnt an address, and the fork server stays.
        WorkerLoss::StrippingTypes => {
            tracing::info!(worker, "a worker was lost while it stripped types");
            fail(FailureCode::InvalidBundle, "the TypeScript is nested too deeply".to_owned())
        }
        WorkerLoss::Broken => {
            lease.recycle_workers();
            let status = process.wait_exit_status().await;
            let status =
                status.map_or_else(|| "it broke the protocol".to_owned(), |status| status.to_string());
            tracing::warn!(worker, status, "a worker was lost");
            fail(FailureCode::WorkerLost, format!("the process that ran the code was lost: {status}"))
        }
    }
}
