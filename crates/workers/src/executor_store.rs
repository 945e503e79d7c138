//! The store as the executor uses it.

use apps::AppsRead;
use connections::GateReader;
use observability::LogSink;
use projects::ProjectsRead;
use workspace::WorkspaceRead;

/// Reads that running app code needs, and the sink of the log lines of visits.
pub trait ExecutorStore:
    AppsRead + GateReader + LogSink + ProjectsRead + WorkspaceRead + Send + Sync
{
}

impl<T> ExecutorStore for T where
    T: AppsRead + GateReader + LogSink + ProjectsRead + WorkspaceRead + Send + Sync
{
}
