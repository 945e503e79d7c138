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
    pub blank: usize,
    /// Processes bound to a workspace, busy or idle, at most.
    pub max_processes: usize,
    /// As many processes at work for one workspace as keep the processors busy: beyond that, short code waits for its
    /// turn at one of them.
    pub at_once: usize,
    /// How long an idle process is kept for its workspace.
    pub idle: Duration,
    /// Callers that may wait for a process, at most, in all.
    pub queue: usize,
    /// Callers that may wait for a process, at most, in one workspace.
    pub queue_per_workspace: usize,
    /// How long a caller waits for a process.
    pub queue_wait: Duration,
    /// How long after the wall limit a process is killed that did not stop by itself.
    pub grace: Duration,
}

impl Default for RuntimeConfig {
    fn default() -> Self {
        Self {
            program: None,
            arguments: vec!["worker".into()],
            blank: 1,
            max_processes: 8,
            at_once: available_parallelism().map_or(2, usize::from),
            idle: Duration::from_secs(60),
            queue: 1024,
            queue_per_workspace: 256,
            queue_wait: Duration::from_secs(30),
            grace: Duration::from_millis(200),
        }
    }
}
