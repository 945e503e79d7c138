//! The outbox of a project: the table `_outbox` in its file, created with the first entry.

use std::{
    collections::HashSet,
    fs, io,
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use backend_data::{
    ProjectRef, StoreError,
    store::{OUTBOX_PAGE, OutboxEntry, OutboxRecord},
};
use rusqlite::Connection;

use super::{
    SharedState,
    connection::{FileConnection, Role},
    execute::to_store_error,
    internal_error, unavailable_error,
};

const TABLE: &str = "CREATE TABLE IF NOT EXISTS \"_outbox\" (\
    \"seq\" INTEGER PRIMARY KEY, \"id\" TEXT NOT NULL UNIQUE, \"body\" TEXT NOT NULL, \"rows\" INTEGER) STRICT";

/// The projects whose outboxes may hold entries: those to which this process added some and, after the scan of the
/// files, those in which an earlier process left some.
#[derive(Debug, Default)]
pub(super) struct PendingOutboxes(Mutex<PendingState>);

#[derive(Debug, Default)]
struct PendingState {
    projects: HashSet<ProjectRef>,
    is_scanned: bool,
}

impl PendingOutboxes {
    fn lock(&self) -> MutexGuard<'_, PendingState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the files were not scanned yet.
    pub(super) fn needs_scan(&self) -> bool {
        !self.lock().is_scanned
    }

    pub(super) fn all(&self) -> Vec<ProjectRef> {
        self.lock().projects.iter().cloned().collect()
    }

    fn insert(&self, project: &ProjectRef) {
        self.lock().projects.insert(project.clone());
    }

    fn remove(&self, project: &ProjectRef) {
        self.lock().projects.remove(project);
    }
}

/// Adds entries within the transaction of the change. The caller is the project's writer.
pub(super) fn add(
    shared: &SharedState,
    project: &ProjectRef,
    connection: &Connection,
    entries: &[OutboxEntry],
    rows: Option<u64>,
) -> Result<(), StoreError> {
    if entries.is_empty() {
        return Ok(());
    }
    let rows = rows.map(i64::try_from).transpose().map_err(internal_error)?;
    connection.execute_batch(TABLE).map_err(to_store_error)?;
    let insert = "INSERT INTO \"_outbox\" (\"id\", \"body\", \"rows\") VALUES (?1, ?2, ?3)";
    for OutboxEntry { id, body } in entries {
        connection.execute(insert, (id, body, rows)).map_err(to_store_error)?;
    }
    // Before the commit, so that no entry is missed. If it fails, the outbox is read and found empty.
    shared.pending_outboxes.insert(project);
    Ok(())
}

/// Returns the oldest entries. The caller is the project's writer, so no change is under way.
pub(super) fn read_oldest(
    shared: &SharedState,
    project: &ProjectRef,
    connection: &Connection,
) -> Result<Vec<OutboxRecord>, StoreError> {
    let records = if table_exists(connection)? { select_oldest(connection)? } else { Vec::new() };
    if records.is_empty() {
        shared.pending_outboxes.remove(project);
    }
    Ok(records)
}

fn select_oldest(connection: &Connection) -> Result<Vec<OutboxRecord>, StoreError> {
    let sql =
        format!("SELECT \"id\", \"body\", \"rows\" FROM \"_outbox\" ORDER BY \"seq\" LIMIT {OUTBOX_PAGE}");
    let mut statement = connection.prepare(&sql).map_err(to_store_error)?;
    let mut found = statement.query([]).map_err(to_store_error)?;
    let mut records = Vec::new();
    while let Some(row) = found.next().map_err(to_store_error)? {
        let (id, body, rows): (_, _, Option<i64>) = row.try_into().map_err(to_store_error)?;
        let rows = rows.map(u64::try_from).transpose().map_err(internal_error)?;
        records.push(OutboxRecord { entry: OutboxEntry { id, body }, rows });
    }
    Ok(records)
}

/// Removes entries. The caller is the project's writer.
pub(super) fn clear(
    shared: &SharedState,
    project: &ProjectRef,
    connection: &Connection,
    ids: &[String],
) -> Result<(), StoreError> {
    if table_exists(connection)? {
        for id in ids {
            connection.execute("DELETE FROM \"_outbox\" WHERE \"id\" = ?1", [id]).map_err(to_store_error)?;
        }
        if has_entries(connection)? {
            return Ok(());
        }
    }
    shared.pending_outboxes.remove(project);
    Ok(())
}

/// Finds the projects in whose outboxes an earlier process left entries. No file is kept open.
pub(super) fn scan_files(shared: &SharedState) -> Result<(), StoreError> {
    for shard in list_names(&shared.options.directory).map_err(unavailable_error)? {
        let Ok(number) = shard.parse() else { continue };
        for name in list_names(&shared.options.directory.join(&shard)).map_err(unavailable_error)? {
            let Some(Ok(id)) = name.strip_suffix(".sqlite3").map(str::parse) else { continue };
            let project = ProjectRef::new(id, number);
            // A file that was deleted meanwhile has no entries; one that cannot be read fails for its users.
            if FileConnection::new(shared, &project, Role::Reader, false).is_ok_and(|open| {
                open.set_statement_timeout(shared.options.statement_timeout);
                table_exists(&open.connection).unwrap_or(false)
                    && has_entries(&open.connection).unwrap_or(true)
            }) {
                shared.pending_outboxes.insert(&project);
            }
        }
    }
    shared.pending_outboxes.lock().is_scanned = true;
    Ok(())
}

/// Returns the names in a directory that are valid text, as all names of this store are.
fn list_names(directory: &Path) -> io::Result<Vec<String>> {
    let name = |entry: io::Result<fs::DirEntry>| entry.map(|entry| entry.file_name().into_string().ok());
    fs::read_dir(directory)?.filter_map(|entry| name(entry).transpose()).collect()
}

fn table_exists(connection: &Connection) -> Result<bool, StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = '_outbox')";
    connection.query_row(sql, [], |row| row.get(0)).map_err(to_store_error)
}

fn has_entries(connection: &Connection) -> Result<bool, StoreError> {
    connection
        .query_row("SELECT EXISTS (SELECT 1 FROM \"_outbox\")", [], |row| row.get(0))
        .map_err(to_store_error)
}
