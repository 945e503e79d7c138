//! The outbox of a project: a table of ours in its file, made with its first entry.

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
    Shared,
    connection::{Open, Role},
    internal,
    run::failed,
    unavailable,
};

const TABLE: &str = "CREATE TABLE IF NOT EXISTS \"_outbox\" (\
    \"seq\" INTEGER PRIMARY KEY, \"id\" TEXT NOT NULL UNIQUE, \"body\" TEXT NOT NULL, \"rows\" INTEGER) STRICT";

/// The projects whose outboxes may hold entries: those that this process put one in, and, once the files were looked at,
/// those in which an earlier process left some.
#[derive(Debug, Default)]
pub(super) struct Holders(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    projects: HashSet<ProjectRef>,
    looked: bool,
}

impl Holders {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the files must be looked at first.
    pub(super) fn unknown(&self) -> bool {
        !self.lock().looked
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

/// Adds entries. The caller holds the transaction of the change and the project's turn.
pub(super) fn add(
    shared: &Shared,
    project: &ProjectRef,
    connection: &Connection,
    entries: &[OutboxEntry],
    rows: Option<u64>,
) -> Result<(), StoreError> {
    if entries.is_empty() {
        return Ok(());
    }
    let rows = rows.map(i64::try_from).transpose().map_err(internal)?;
    connection.execute_batch(TABLE).map_err(failed)?;
    let insert = "INSERT INTO \"_outbox\" (\"id\", \"body\", \"rows\") VALUES (?1, ?2, ?3)";
    for OutboxEntry { id, body } in entries {
        connection.execute(insert, (id, body, rows)).map_err(failed)?;
    }
    // Before the commit: one too many is looked at and found empty.
    shared.holders.insert(project);
    Ok(())
}

/// The oldest entries. The caller holds the project's turn, so that no change is under way.
pub(super) fn oldest(
    shared: &Shared,
    project: &ProjectRef,
    connection: &Connection,
) -> Result<Vec<OutboxRecord>, StoreError> {
    let records = if exists(connection)? { read(connection)? } else { Vec::new() };
    if records.is_empty() {
        shared.holders.remove(project);
    }
    Ok(records)
}

fn read(connection: &Connection) -> Result<Vec<OutboxRecord>, StoreError> {
    let sql =
        format!("SELECT \"id\", \"body\", \"rows\" FROM \"_outbox\" ORDER BY \"seq\" LIMIT {OUTBOX_PAGE}");
    let mut statement = connection.prepare(&sql).map_err(failed)?;
    let mut found = statement.query([]).map_err(failed)?;
    let mut records = Vec::new();
    while let Some(row) = found.next().map_err(failed)? {
        let (id, body, rows): (_, _, Option<i64>) = row.try_into().map_err(failed)?;
        let rows = rows.map(u64::try_from).transpose().map_err(internal)?;
        records.push(OutboxRecord { entry: OutboxEntry { id, body }, rows });
    }
    Ok(records)
}

/// Takes entries out. The caller holds the project's turn.
pub(super) fn clear(
    shared: &Shared,
    project: &ProjectRef,
    connection: &Connection,
    ids: &[String],
) -> Result<(), StoreError> {
    if exists(connection)? {
        for id in ids {
            connection.execute("DELETE FROM \"_outbox\" WHERE \"id\" = ?1", [id]).map_err(failed)?;
        }
        if holds(connection)? {
            return Ok(());
        }
    }
    shared.holders.remove(project);
    Ok(())
}

/// Finds the entries that an earlier process left. Each file is opened for the moment alone.
pub(super) fn look(shared: &Shared) -> Result<(), StoreError> {
    for shard in entries(&shared.options.directory).map_err(unavailable)? {
        let Ok(number) = shard.parse() else { continue };
        for name in entries(&shared.options.directory.join(&shard)).map_err(unavailable)? {
            let Some(Ok(id)) = name.strip_suffix(".sqlite3").map(str::parse) else { continue };
            let project = ProjectRef::new(id, number);
            // A file that went meanwhile holds nothing; one that cannot be read says so to whoever uses it.
            if Open::new(shared, &project, Role::Reader, false).is_ok_and(|open| {
                open.allow(shared.options.statement_limit);
                exists(&open.connection).unwrap_or(false) && holds(&open.connection).unwrap_or(true)
            }) {
                shared.holders.insert(&project);
            }
        }
    }
    shared.holders.lock().looked = true;
    Ok(())
}

/// The names in a directory that can be read as text, as all of ours can.
fn entries(directory: &Path) -> io::Result<Vec<String>> {
    let name = |entry: io::Result<fs::DirEntry>| entry.map(|entry| entry.file_name().into_string().ok());
    fs::read_dir(directory)?.filter_map(|entry| name(entry).transpose()).collect()
}

fn exists(connection: &Connection) -> Result<bool, StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = '_outbox')";
    connection.query_row(sql, [], |row| row.get(0)).map_err(failed)
}

fn holds(connection: &Connection) -> Result<bool, StoreError> {
    connection.query_row("SELECT EXISTS (SELECT 1 FROM \"_outbox\")", [], |row| row.get(0)).map_err(failed)
}
