//! How many worker processes there are, and how they are started.

use std::{ffi::OsString, path::PathBuf, thread::available_parallelism, time::Duration};

/// The settings of a [`QuickJsEngine`](crate::QuickJsEngine).
#[derive(Debug, Clone)]
pub struct RuntimeConfig {
    /// The program that calls [`worker_main`](crate::worker_main); the running one when absent.
    pub program: Option<PathBuf>,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Processes kept ready that have seen no workspace yet.
    pub prewarmed: usize,
    /// How much code is at work at once.
    pub concurrency: ConcurrencyLimits,
    /// As many processes at work for one workspace as keep the processors busy: beyond that, short code waits for its
    /// turn at one of them.
    pub handover_threshold: usize,
    /// How long an idle process is kept for its workspace.
    pub idle_timeout: Duration,
    /// Callers that may wait for a place of one kind, at most, in all.
    pub max_queued: usize,
    /// Callers that may wait for a process, at most, in one workspace.
    pub max_queued_per_workspace: usize,
    /// How long a caller waits for a process.
    pub queue_timeout: Duration,
    /// How long after its wall limit, or beyond its processor time, a process is killed that did not stop by itself.
    pub kill_grace: Duration,
    /// Whether a process runs no code in which one of the walls is missing (see
    /// [`Confinement::missing_layers`](crate::Confinement::missing_layers)).
    pub require_confinement: bool,
}

/// How much code is at work at once, by what it is for. As many processes as these together are bound to a workspace at
/// most, busy or idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConcurrencyLimits {
    /// Runs.
    pub runs: usize,
    /// Answers over HTTP.
    pub requests: usize,
    /// Checks of bundles.
    pub checks: usize,
}

impl ConcurrencyLimits {
    /// Places for so many runs, as many answers (at least four), and two checks.
    #[must_use]
    pub fn for_runs(runs: usize) -> Self {
        Self { runs, requests: runs.max(4), checks: 2 }
    }
}

impl Default for ConcurrencyLimits {
    fn default() -> Self {
        Self::for_runs(8)
    }
}

impl Default for RuntimeConfig {
    fn default() -> Self {
        Self {
            program: None,
            arguments: vec!["worker".into()],
            prewarmed: 1,
            concurrency: ConcurrencyLimits::default(),
            handover_threshold: available_parallelism().map_or(2, usize::from),
            idle_timeout: Duration::from_secs(60),
            max_queued: 1024,
            max_queued_per_workspace: 256,
            queue_timeout: Duration::from_secs(30),
            kill_grace: Duration::from_millis(200),
            require_confinement: false,
        }
    }
}
