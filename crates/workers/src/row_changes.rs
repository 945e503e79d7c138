//! Reports of written rows: at most one event a table and second, whoever writes.
//!
//! A write leaves a mark in memory. A loop reports marked tables: at once if a table was not reported within the last
//! second, otherwise at the end of that second. Tables that are not written take no memory.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use backend_data::{ProjectRef, WriteObserver};
use futures::{StreamExt as _, stream};
use kernel::{
    Clock, StoreError,
    authority::Role,
    changes::{Audience, Change, ChangedKind},
    events::{Event, EventKind},
    id::{ProjectId, WorkspaceId},
};
use observability::EventSink;
use projects::ProjectsRead;
use tokio::{
    sync::Notify,
    time::{Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

/// Minimum time between two reports of a table.
const REPORT_INTERVAL: Duration = Duration::from_secs(1);
/// Time that a node gathers tables before it reports them.
const GATHER_TIME: Duration = Duration::from_millis(10);
/// Tables that are followed at once; at most. The writes of others in that second are not reported.
const MAX_TABLES: usize = 16_384;
/// Lookups of a project's workspace at once; at most.
const MAX_LOOKUPS: usize = 8;

/// Tables whose rows were written lately.
#[derive(Default)]
pub struct RowChanges {
    tables: Mutex<MarkedTables>,
    wakeup: Notify,
}

#[derive(Default)]
struct MarkedTables {
    by_project: HashMap<backend_data::ProjectId, HashMap<String, TableState>>,
    count: usize,
}

#[derive(Clone, Copy)]
struct TableState {
    /// True if rows were written since the last report.
    is_written: bool,
    reported_at: Option<Instant>,
    /// The workspace of the project, once it was looked up.
    workspace: Option<WorkspaceId>,
}

impl TableState {
    /// Time at which the table is reported, or forgotten if nothing was written; `None` for at once.
    fn due_at(&self) -> Option<Instant> {
        self.reported_at.map(|at| at + REPORT_INTERVAL)
    }
}

/// A table to report.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WrittenTable {
    project: backend_data::ProjectId,
    table: String,
    workspace: Option<WorkspaceId>,
}

impl WriteObserver for RowChanges {
    fn rows_written(&self, project: &ProjectRef, table: &str) {
        let mut tables = self.lock();
        if let Some(state) = tables.by_project.get_mut(&project.id).and_then(|found| found.get_mut(table)) {
            state.is_written = true;
            return;
        }
        if tables.count >= MAX_TABLES {
            return;
        }
        tables.count += 1;
        let state = TableState { is_written: true, reported_at: None, workspace: None };
        tables.by_project.entry(project.id.clone()).or_default().insert(table.to_owned(), state);
        drop(tables);
        self.wakeup.notify_one();
    }
}

impl RowChanges {
    fn lock(&self) -> MutexGuard<'_, MarkedTables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the tables whose report is due, or all that were written, and forgets those that were not written for a
    /// while.
    fn take_written(&self, now: Instant, all: bool) -> Vec<WrittenTable> {
        let mut tables = self.lock();
        let mut written = Vec::new();
        for (project, states) in &mut tables.by_project {
            states.retain(|table, state| {
                let is_due = state.due_at().is_none_or(|due| due <= now);
                if state.is_written && (is_due || all) {
                    let (project, table) = (project.clone(), table.clone());
                    written.push(WrittenTable { project, table, workspace: state.workspace });
                    (state.is_written, state.reported_at) = (false, Some(now));
                    return true;
                }
                state.is_written || !is_due
            });
        }
        tables.by_project.retain(|_, states| !states.is_empty());
        tables.count = tables.by_project.values().map(HashMap::len).sum();
        written
    }

    /// Returns when the next of the tables that were reported is due; `None` if there is none. The first write of a table
    /// wakes the loop by itself.
    fn next_due(&self) -> Option<Instant> {
        let tables = self.lock();
        tables.by_project.values().flat_map(HashMap::values).filter_map(TableState::due_at).min()
    }

    /// Changes the state of a table that is still followed.
    fn update(&self, table: &WrittenTable, update: impl Fn(&mut TableState)) {
        let mut tables = self.lock();
        let states = tables.by_project.get_mut(&table.project);
        if let Some(state) = states.and_then(|states| states.get_mut(&table.table)) {
            update(state);
        }
    }
}

/// The part of the store that a [`RowChangeReporter`] needs.
#[async_trait]
pub trait RowChangeStore: Send + Sync {
    /// Returns the workspace of a project; `None` if there is no such project.
    async fn workspace_of(&self, project: ProjectId) -> Result<Option<WorkspaceId>, StoreError>;

    /// Publishes events.
    async fn publish(&self, events: Vec<Event>) -> Result<(), StoreError>;
}

#[async_trait]
impl<S: ProjectsRead + EventSink> RowChangeStore for S {
    async fn workspace_of(&self, project: ProjectId) -> Result<Option<WorkspaceId>, StoreError> {
        Ok(self.project_fact(project).await?.map(|fact| fact.workspace))
    }

    async fn publish(&self, events: Vec<Event>) -> Result<(), StoreError> {
        self.publish_events(events).await
    }
}

/// Reports the tables of a [`RowChanges`]. Every node reports what is written through it.
pub struct RowChangeReporter {
    changes: Arc<RowChanges>,
    store: Arc<dyn RowChangeStore>,
    clock: Arc<dyn Clock>,
}

impl RowChangeReporter {
    /// Creates a reporter.
    #[must_use]
    pub fn new(changes: Arc<RowChanges>, store: Arc<dyn RowChangeStore>, clock: Arc<dyn Clock>) -> Self {
        Self { changes, store, clock }
    }

    /// Reports tables as they are due, until `stop`, and then what is left.
    pub async fn run(self, stop: CancellationToken) {
        loop {
            let due = self.changes.next_due();
            tokio::select! {
                // The end comes first: what is left is then reported at once and together.
                biased;
                () = stop.cancelled() => break,
                () = self.changes.wakeup.notified() => sleep(GATHER_TIME).await,
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {}
            }
            self.report(false).await;
        }
        self.report(true).await;
    }

    /// Reports what is due, or everything. What cannot be reported is tried again a second later.
    async fn report(&self, all: bool) {
        let written = self.changes.take_written(Instant::now(), all);
        if written.is_empty() {
            return;
        }
        if let Err(error) = self.publish(&written).await {
            tracing::warn!(error = &error as &dyn std::error::Error, "cannot report written rows");
            for table in &written {
                self.changes.update(table, |state| state.is_written = true);
            }
        }
    }

    async fn publish(&self, written: &[WrittenTable]) -> Result<(), StoreError> {
        let at = self.clock.now();
        let lookups: Vec<_> = written.iter().map(|table| self.find(table)).collect();
        let found: Vec<_> = stream::iter(lookups).buffer_unordered(MAX_LOOKUPS).collect().await;
        let mut events = Vec::with_capacity(written.len());
        for found in found {
            // A project without a record is being created, or was deleted: nobody looks at its rows.
            let Some((workspace, project, table)) = found? else { continue };
            let kind = EventKind::Changed(Change::of_table(ChangedKind::Rows, project, table, None));
            events.push(Event { workspace, audience: Audience::Members(Role::Member), at, kind });
        }
        if events.is_empty() { Ok(()) } else { self.store.publish(events).await }
    }

    /// Finds the workspace of a table.
    async fn find<'t>(
        &self,
        table: &'t WrittenTable,
    ) -> Result<Option<(WorkspaceId, ProjectId, &'t str)>, StoreError> {
        let Ok(project) = table.project.as_str().parse::<ProjectId>() else { return Ok(None) };
        let workspace = match table.workspace {
            Some(workspace) => workspace,
            None => {
                let Some(workspace) = self.store.workspace_of(project).await? else { return Ok(None) };
                self.changes.update(table, |state| state.workspace = Some(workspace));
                workspace
            }
        };
        Ok(Some((workspace, project, table.table.as_str())))
    }
}

#[cfg(test)]
mod tests;
