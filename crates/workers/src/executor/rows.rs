//! Implements `env.data.NAME`: access to the rows of a backend project.

use std::borrow::Cow;

use backend_data::{Engine, Error, ErrorKind, Format, ReadOptions, WriteOptions, WriteOutcome};
use bytes::Bytes;
use kernel::wide_integers;
use runs::engine::{DataCall, HostError};
use serde_json::value::RawValue;

use super::version_cache::Binding;

/// Characters of a table name in a label; the rest is cut off.
const MAX_TABLE_NAME_CHARS: usize = 48;

/// Result of a call.
pub(super) struct DataResult {
    pub(super) body: Bytes,
    rows: Option<u64>,
}

impl DataResult {
    /// Returns the number of rows that were found or written.
    pub(super) fn rows(&self) -> u64 {
        self.rows.unwrap_or(0)
    }

    /// Returns the number of rows as text, such as `1 row`.
    pub(super) fn detail(&self) -> Option<String> {
        self.rows.map(|rows| if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") })
    }
}

impl From<WriteOutcome> for DataResult {
    fn from(written: WriteOutcome) -> Self {
        Self { body: written.body, rows: Some(written.rows) }
    }
}

/// Returns a label such as `Insert into notes`.
pub(super) fn label(call: &DataCall) -> String {
    let (what, table) = match call {
        DataCall::Select { table, .. } => ("Select from", table),
        DataCall::Get { table, .. } => ("Get from", table),
        DataCall::Insert { table, .. } => ("Insert into", table),
        DataCall::Update { table, .. } => ("Update", table),
        DataCall::Delete { table, .. } => ("Delete from", table),
    };
    let table: String = table.chars().filter(|c| !c.is_control()).take(MAX_TABLE_NAME_CHARS).collect();
    format!("{what} {table}")
}

/// Returns true if a call inserts, updates or deletes rows.
pub(super) fn is_write(call: &DataCall) -> bool {
    matches!(call, DataCall::Insert { .. } | DataCall::Update { .. } | DataCall::Delete { .. })
}

/// Executes one call within the rights of the binding.
pub(super) async fn execute(
    engine: &Engine,
    binding: &Binding,
    call: DataCall,
) -> Result<DataResult, HostError> {
    let Binding { project, access, max_stored_bytes: max_stored, .. } = binding;
    let write = WriteOptions::default();
    let done = match call {
        DataCall::Select { table, query } => engine
            .list(project, access, &table, &query, &ReadOptions::default())
            .await
            .map(|page| DataResult { body: page.body, rows: Some(page.rows) }),
        DataCall::Get { table, id } => match engine.get(project, access, &table, &id, "", Format::Json).await
        {
            Err(error) if error.code() == "row_not_found" => {
                Ok(DataResult { body: Bytes::from_static(b"null"), rows: Some(0) })
            }
            found => found.map(|page| DataResult { body: page.body, rows: Some(1) }),
        },
        DataCall::Insert { table, rows } => {
            let engine = engine.with_storage_limit(Some(*max_stored));
            engine.insert(project, access, &table, "", &written(&rows), &write).await.map(DataResult::from)
        }
        DataCall::Update { table, query, values } => engine
            .with_storage_limit(Some(*max_stored))
            .update(project, access, &table, &query, &written(&values), &write)
            .await
            .map(DataResult::from),
        DataCall::Delete { table, query } => {
            engine.delete(project, access, &table, &query, &write).await.map(DataResult::from)
        }
    };
    let DataResult { body, rows } = done.map_err(|error| refusal(&error))?;
    let body = wide_integers::as_texts(&body).map_or(body, Bytes::from);
    Ok(DataResult { body, rows })
}

/// Returns what code writes, in which a number beyond 53 bits is no integer.
fn written(json: &RawValue) -> Cow<'_, [u8]> {
    let json = json.get().as_bytes();
    wide_integers::as_floats(json).map_or(Cow::Borrowed(json), Cow::Owned)
}

fn refusal(error: &Error) -> HostError {
    if matches!(error.kind(), ErrorKind::Internal | ErrorKind::Unavailable) {
        tracing::warn!(error = error as &dyn std::error::Error, "cannot access rows");
    }
    HostError { code: error.code().to_owned(), message: error.message().to_owned() }
}

/// The error for a name that the manifest does not bind, or whose project does not exist.
pub(super) fn binding_not_found() -> HostError {
    let message = "env.data has no project of this name";
    HostError { code: "project_not_found".to_owned(), message: message.to_owned() }
}
