//! The store, as the executor sees it.

use apps::AppsRead;
use connections::GateReader;
use observability::LogSink;
use projects::ProjectsRead;
use workspace::WorkspaceRead;

/// What running app code reads, and where the lines of answers over HTTP go.
pub trait ExecutorStore:
    AppsRead + GateReader + LogSink + ProjectsRead + WorkspaceRead + Send + Sync
{
}

impl<T> ExecutorStore for T where
    T: AppsRead + GateReader + LogSink + ProjectsRead + WorkspaceRead + Send + Sync
{
}
