//! Settings of the engine.

use std::{ffi::OsString, path::PathBuf, sync::Arc, thread::available_parallelism, time::Duration};

use secrecy::SecretBox;

/// The settings of a [`QuickJsEngine`](crate::QuickJsEngine).
#[derive(Debug, Clone)]
pub struct RuntimeConfig {
    /// The program that calls [`worker_main`](crate::worker_main). Default: the running program.
    pub program: Option<PathBuf>,
    /// Arguments of the program. Default: `worker`.
    pub arguments: Vec<OsString>,
    /// Processes kept ready that are not bound to a workspace yet. Default: 1.
    pub prewarmed: usize,
    /// Invocations that run at once.
    pub concurrency: ConcurrencyLimits,
    /// Processes running code of one workspace that keep the machine's processors busy. Beyond that number, an invocation
    /// waits a moment for one of them. Default: the number of processors.
    pub handover_threshold: usize,
    /// Time that an idle process is kept for its workspace. Default: 60 seconds.
    pub idle_timeout: Duration,
    /// Invocations of one kind that may wait for a slot, in all. Default: 1,024.
    pub max_queued: usize,
    /// Invocations of one kind that may wait for a slot, of one share. Default: 256.
    pub max_queued_per_share: usize,
    /// Time that an invocation waits for a slot. Default: 30 seconds.
    pub queue_timeout: Duration,
    /// Time beyond a limit (wall clock or processor time) at which a process is killed that did not stop by itself. Default:
    /// 200 ms.
    pub kill_grace: Duration,
    /// True if a process must have every layer of confinement to run code; see
    /// [`Confinement::missing_layers`](crate::Confinement::missing_layers). Default: false.
    pub require_confinement: bool,
    /// Directory that keeps bytecode over restarts. Default: none.
    pub bytecode_directory: Option<BytecodeDirectory>,
}

/// A directory for the bytecode of apps, of this process alone.
#[derive(Debug, Clone)]
pub struct BytecodeDirectory {
    /// Its path. It is made if it does not exist.
    pub path: PathBuf,
    /// Key that seals the files. Nobody who may write to the directory may have it: a worker process trusts bytecode.
    pub key: Arc<SecretBox<[u8; 32]>>,
}

/// Invocations that run at once, by kind. Their sum is also the number of processes bound to a workspace, busy or idle, at
/// most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConcurrencyLimits {
    /// Runs of automations.
    pub runs: usize,
    /// Responses over HTTP.
    pub requests: usize,
    /// Checks of bundles.
    pub checks: usize,
}

impl ConcurrencyLimits {
    /// Allows `runs` runs, as many responses (at least four), and two checks.
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
            max_queued_per_share: 256,
            queue_timeout: Duration::from_secs(30),
            kill_grace: Duration::from_millis(200),
            require_confinement: false,
            bytecode_directory: None,
        }
    }
}
