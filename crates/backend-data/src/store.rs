//! The port behind the engine: a store that runs the statements it is given and keeps each project's catalog.

use std::{fmt, ops::Range};

use async_trait::async_trait;

use crate::{
    catalog::{Catalog, ColumnType},
    error::Error,
    ident::ProjectRef,
    output::OutputColumn,
    value::Value,
};

/// The SQL a store speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// SQLite 3.40 or later, with these functions registered, all of which give null for null:
    /// `qala_like(text, pattern)` and `qala_ilike`; `qala_match(text, expression)`; `qala_json(document, steps)` and
    /// `qala_json_text`, `qala_json_order(document)`, `qala_json_contains(outer, inner)` and
    /// `qala_cast(value, from, to)`, which [`crate::functions`] has.
    Sqlite,
    /// PostgreSQL 15 or later.
    Postgres,
}

/// How statements name a project's tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableScope {
    /// What stands before a quoted table name: `"schema".` or nothing.
    pub prefix: String,
    /// An SQL expression for the version of the catalog, where other processes may change it.
    pub schema_version_check: Option<String>,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// A JSON array of objects.
    #[default]
    Json,
    /// The same, without members that are null.
    Stripped,
    /// Comma-separated values (RFC 4180) under a row of names. Nothing between two commas is null, `""` is empty text.
    Csv,
}

/// A statement that shows rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The version of the catalog it was made for.
    pub version: u64,
    /// One `SELECT`.
    pub sql: String,
    /// What its parameters stand for.
    pub params: Vec<Value>,
    /// What it yields.
    pub output: Vec<OutputColumn>,
    /// What follows the output in each row; only that of the last row is wanted.
    pub cursor_keys: Vec<OutputColumn>,
    /// How the rows are written.
    pub format: Format,
    /// Where it looks one row up by its id: the place in `sql` of that id, which is its first parameter and stands
    /// nowhere else. Such a read takes less time than to hand it to another thread, and with another expression in that
    /// place it is the same read of another row.
    pub id_placeholder: Option<Range<usize>>,
    /// Whether it shows whole columns, each once, so that showing a row costs no more than its bytes.
    pub is_plain: bool,
    /// The statement that counts every matching row; it uses the first parameters of `params`.
    pub count: Option<CountStatement>,
    /// How large the answer may be.
    pub max_bytes: usize,
}

/// A statement that counts rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountStatement {
    /// One `SELECT count(*)`.
    pub sql: String,
    /// How many of the parameters it uses.
    pub params: usize,
    /// An estimate that will do; nothing where the number must be exact.
    pub estimate: Option<CountEstimate>,
}

/// How many rows match, about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CountEstimate {
    /// A statement that gives it in place of the count, and takes no longer however many rows match: for SQLite, which knows
    /// nothing of its rows.
    Bounded(String),
    /// What PostgreSQL's planner expects of a statement; where that is no more than a number of rows, they are counted.
    Planned {
        /// The statement, of the parameters of the count.
        sql: String,
        /// Up to how many expected rows are counted; none for never.
        exact_up_to: u64,
    },
}

/// The direction of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortDirection {
    /// Greatest first.
    pub descending: bool,
    /// Nulls first.
    pub nulls_first: bool,
}

/// A statement that changes rows, all or nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// The version of the catalog it was made for.
    pub version: u64,
    /// One `INSERT`, `UPDATE` or `DELETE`.
    pub sql: String,
    /// Rows to insert: SQLite runs the statement once for each, PostgreSQL once with an array for each column.
    /// Their values are the first parameters, and the first value of each is its id.
    pub rows: Option<Vec<Vec<Value>>>,
    /// The types of a row's values.
    pub row_types: Vec<ColumnType>,
    /// The parameters, after those of a row.
    pub params: Vec<Value>,
    /// What it returns; nothing where only the count is wanted.
    pub output: Vec<OutputColumn>,
    /// Whether one more, boolean, column follows the output: a row where it is not true undoes everything.
    pub has_check_column: bool,
    /// Undo everything, as for a row that fails the check, when one of `rows` touches none.
    pub requires_every_row: bool,
    /// Whether one more boolean column, the last, says whether the row was inserted rather than updated.
    pub has_inserted_column: bool,
    /// The directions of further columns, which come last: rows are shown in their order. Nothing where they are shown as
    /// they come.
    pub order: Vec<SortDirection>,
    /// Which of a row's values tell whether it exists: those of the columns of a unique index, or none where its id does.
    pub conflict_positions: Vec<usize>,
    /// How the rows are written.
    pub format: Format,
    /// Undo everything when more rows than this are touched.
    pub max_rows: Option<u64>,
    /// Whether the statement can touch one row at most.
    pub is_single_row: bool,
    /// Undo everything when not exactly one row is touched.
    pub exactly_one: bool,
    /// How large the answer may be.
    pub max_bytes: usize,
    /// Refuse it as [`StoreError::StorageFull`] where the project's rows take so many bytes already. Nothing where there is no
    /// limit, and of a write that only takes rows away.
    pub max_stored_bytes: Option<u64>,
    /// What it leaves in the project's outbox.
    pub outbox: Vec<OutboxEntry>,
}

impl Write {
    /// Whether the outcome may be refused after the statement ran, so that it needs a way back.
    #[must_use]
    pub fn needs_transaction(&self) -> bool {
        let shown = self.rows.is_none() && !self.output.is_empty();
        let counted = self.exactly_one || self.requires_every_row || self.max_rows.is_some();
        self.has_check_column || !self.outbox.is_empty() || !self.is_single_row && (counted || shown)
    }
}

/// The rows of an import, portion after portion.
pub type RowBatches = Box<dyn Iterator<Item = Result<Vec<Vec<Value>>, Error>> + Send>;

/// Rows that come in portions, all or nothing.
pub struct Import {
    /// The statement for each portion, without rows of its own.
    pub write: Write,
    /// Reads the rows from the first one. A store that other writes were in the way of undoes what it wrote and reads them
    /// again. An error, here or among them, undoes everything as [`StoreError::ImportRejected`].
    pub batches: Box<dyn Fn() -> Result<RowBatches, Error> + Send + Sync>,
    /// What it leaves in the project's outbox.
    pub outbox: Vec<OutboxEntry>,
}

impl fmt::Debug for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Import").field("write", &self.write).finish_non_exhaustive()
    }
}

/// A new catalog and the statements that make it true, in one transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaChange {
    /// The version it replaces; another one makes the change [`StoreError::Stale`].
    pub from_version: u64,
    /// The catalog, of the next version.
    pub catalog: Catalog,
    /// The statements.
    pub statements: Vec<String>,
    /// A table that must hold no rows for the change to be made.
    pub only_if_empty: Option<String>,
    /// As [`Write::max_stored_bytes`], of a change that makes an index.
    pub max_stored_bytes: Option<u64>,
    /// What it leaves in the project's outbox.
    pub outbox: Vec<OutboxEntry>,
}

/// What a change leaves in its project's outbox, in the transaction of the change, for a system beside the store: a row
/// of an audit log, say. It stays there until that system has it ([`Engine::clear_outbox`](crate::Engine::clear_outbox)),
/// so that neither a crash nor a full disk leaves a change of which it never learns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEntry {
    /// What tells it from all others: it may be delivered more than once.
    pub id: String,
    /// What is to be delivered; the store does not read it.
    pub body: String,
}

/// An entry that lies in an outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxRecord {
    /// The entry.
    pub entry: OutboxEntry,
    /// How many rows the change touched; nothing for a change of the schema.
    pub rows: Option<u64>,
}

/// What a statement gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementResult {
    /// The rows as a JSON array.
    pub body: Vec<u8>,
    /// How many rows it shows or touched.
    pub rows: u64,
    /// How many rows match without a limit, where that was asked.
    pub total: Option<u64>,
    /// How many of them were inserted, where the statement tells.
    pub inserted: Option<u64>,
    /// The keys of the last row, as an array of one object, where there are any.
    pub cursor_keys: Option<Vec<u8>>,
}

/// Why a store did not do it.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The catalog has another version by now, or the project is gone.
    #[error("the catalog has changed")]
    Stale,
    /// A row with this id exists.
    #[error("a row with this id exists")]
    RowExists,
    /// A row with the same values in the columns of a unique index exists.
    #[error("a row with the same values in the columns of a unique index exists")]
    UniqueViolation,
    /// A value of an indexed column is longer than an index holds.
    #[error("a value of an indexed column is too long")]
    TooLongForIndex,
    /// A row failed the check of the statement.
    #[error("a row failed the check")]
    CheckFailed,
    /// More rows were touched than allowed.
    #[error("more than {limit} rows were touched")]
    TooManyRows {
        /// What was allowed.
        limit: u64,
    },
    /// Not exactly one row was touched.
    #[error("{rows} rows were touched rather than one")]
    WrongRowCount {
        /// How many there were.
        rows: u64,
    },
    /// The project's rows take as many bytes as they may.
    #[error("the rows take {limit} bytes or more")]
    StorageFull {
        /// The limit.
        limit: u64,
    },
    /// The answer outgrew its limit.
    #[error("the answer is larger than {limit} bytes")]
    ResultTooLarge {
        /// The limit.
        limit: usize,
    },
    /// One of several writes failed, and with it all of them.
    #[error("write {at} of several failed")]
    BatchWriteFailed {
        /// Which, counted from nothing.
        at: usize,
        /// Why.
        source: Box<StoreError>,
    },
    /// Rows of an import could not be read.
    #[error("the rows of an import were refused")]
    ImportRejected(#[source] Box<Error>),
    /// A value did not fit: a cast, or a sum that is too large.
    #[error("a value does not fit")]
    DataException,
    /// The table must be empty and is not.
    #[error("the table holds rows")]
    TableNotEmpty,
    /// The statement was stopped at its time limit.
    #[error("the statement was stopped at its time limit")]
    Timeout,
    /// Other writes were in the way, also when it was tried again; nothing was changed.
    #[error("other writes were in the way")]
    WriteConflict(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The store is full, busy or away.
    #[error("the store is not available")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Anything else.
    #[error("the store failed")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl StoreError {
    /// Whether other writes were in the way, so that the same statements may be run again.
    #[must_use]
    pub fn is_write_conflict(&self) -> bool {
        match self {
            Self::WriteConflict(_) => true,
            Self::BatchWriteFailed { source, .. } => source.is_write_conflict(),
            _ => false,
        }
    }

    /// Whether the catalog has another version by now.
    pub(crate) fn is_stale(&self) -> bool {
        match self {
            Self::Stale => true,
            Self::BatchWriteFailed { source, .. } => source.is_stale(),
            _ => false,
        }
    }
}

/// A store of rows.
///
/// A store never sees a request: statements name only what the catalog holds, and every value is a parameter.
///
/// A store of one fixed table, as a test may want it:
///
/// ```
/// use std::sync::Arc;
///
/// use async_trait::async_trait;
/// use backend_data::{
///     Access, Catalog, Clock, Dialect, Engine, Limits, Micros, ProjectRef, Random, ReadOptions, RowStore,
///     RowWriter, StoreError,
///     store::{Import, OutboxRecord, Read, SchemaChange, StatementResult, TableScope, Write},
/// };
///
/// struct Fixed;
///
/// #[async_trait]
/// impl RowStore for Fixed {
///     fn dialect(&self) -> Dialect {
///         Dialect::Sqlite
///     }
///     fn table_scope(&self, _: &ProjectRef) -> TableScope {
///         TableScope { prefix: String::new(), schema_version_check: None }
///     }
///     async fn catalog(&self, _: &ProjectRef) -> Result<Option<Catalog>, StoreError> {
///         let tables = r#"{"tables":[{"name":"notes","publicRead":true,"rules":[],"rowCount":null,"createdAt":"",
///             "columns":[{"name":"id","type":"text","nullable":false,"system":true}]}]}"#;
///         Catalog::from_json(1, tables).map(Some).map_err(|error| StoreError::Internal(error.into()))
///     }
///     async fn read(&self, _: &ProjectRef, read: Read) -> Result<StatementResult, StoreError> {
///         let mut rows = RowWriter::new(&read.output, read.format);
///         rows.text("tea");
///         rows.end_row();
///         Ok(StatementResult { rows: rows.rows(), body: rows.finish(), ..StatementResult::default() })
///     }
///     async fn create_project(&self, _: &ProjectRef) -> Result<(), StoreError> {
///         Ok(())
///     }
///     async fn drop_project(&self, _: &ProjectRef) -> Result<(), StoreError> {
///         Ok(())
///     }
///     async fn apply_schema_change(&self, _: &ProjectRef, _: SchemaChange) -> Result<(), StoreError> {
///         Err(StoreError::Stale)
///     }
///     async fn write(&self, _: &ProjectRef, _: Write) -> Result<StatementResult, StoreError> {
///         Err(StoreError::Stale)
///     }
///     async fn write_all(&self, _: &ProjectRef, _: Vec<Write>) -> Result<Vec<StatementResult>, StoreError> {
///         Err(StoreError::Stale)
///     }
///     async fn import(&self, _: &ProjectRef, _: Import) -> Result<u64, StoreError> {
///         Err(StoreError::Stale)
///     }
///     async fn stored_bytes(&self, _: &ProjectRef) -> Result<u64, StoreError> {
///         Ok(0)
///     }
///     async fn pending_outboxes(&self) -> Result<Vec<ProjectRef>, StoreError> {
///         Ok(Vec::new())
///     }
///     async fn read_outbox(&self, _: &ProjectRef) -> Result<Vec<OutboxRecord>, StoreError> {
///         Ok(Vec::new())
///     }
///     async fn clear_outbox(&self, _: &ProjectRef, _: Vec<String>) -> Result<(), StoreError> {
///         Ok(())
///     }
/// }
///
/// struct Still;
/// impl Clock for Still {
///     fn now(&self) -> Micros {
///         Micros::EPOCH
///     }
/// }
/// impl Random for Still {
///     fn fill(&self, bytes: &mut [u8]) {
///         bytes.fill(4);
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let engine = Engine::new(Arc::new(Fixed), Arc::new(Still), Arc::new(Still), Limits::default());
/// let (project, read) = (ProjectRef::new("shop".parse()?, 0), ReadOptions::default());
/// let page = engine.list(&project, &Access::Visitor, "notes", "select=id", &read).await?;
/// assert_eq!(&page.body[..], br#"[{"id":"tea"}]"#);
/// # Ok::<(), backend_data::Error>(())
/// # }).unwrap();
/// ```
#[async_trait]
pub trait RowStore: Send + Sync + 'static {
    /// The SQL it speaks.
    fn dialect(&self) -> Dialect;

    /// How statements name this project's tables.
    fn table_scope(&self, project: &ProjectRef) -> TableScope;

    /// Makes room for a project; one that exists stays as it is.
    async fn create_project(&self, project: &ProjectRef) -> Result<(), StoreError>;

    /// Deletes a project with every row; one that does not exist is no error.
    async fn drop_project(&self, project: &ProjectRef) -> Result<(), StoreError>;

    /// The project's catalog, if there is such a project.
    async fn catalog(&self, project: &ProjectRef) -> Result<Option<Catalog>, StoreError>;

    /// Makes a schema change, all or nothing.
    async fn apply_schema_change(&self, project: &ProjectRef, change: SchemaChange)
    -> Result<(), StoreError>;

    /// Shows rows.
    async fn read(&self, project: &ProjectRef, read: Read) -> Result<StatementResult, StoreError>;

    /// Changes rows; once this answers, they stay changed.
    async fn write(&self, project: &ProjectRef, write: Write) -> Result<StatementResult, StoreError>;

    /// Changes rows by several statements, one after the other, all or nothing. Which one failed is told by
    /// [`StoreError::BatchWriteFailed`]. What they show is together no larger than one answer may be.
    async fn write_all(
        &self,
        project: &ProjectRef,
        writes: Vec<Write>,
    ) -> Result<Vec<StatementResult>, StoreError>;

    /// Adds rows that come in portions, all or nothing; how many they were. A portion is given the time of a
    /// statement.
    async fn import(&self, project: &ProjectRef, import: Import) -> Result<u64, StoreError>;

    /// How many bytes the project's rows take, with their indexes: roughly, where an exact number would take longer the
    /// more rows there are. What deleted rows leave behind and new ones will use does not count.
    async fn stored_bytes(&self, project: &ProjectRef) -> Result<u64, StoreError>;

    /// Projects whose outboxes have held an entry for a while, also those that an earlier process left.
    async fn pending_outboxes(&self) -> Result<Vec<ProjectRef>, StoreError>;

    /// The oldest entries of a project's outbox, [`OUTBOX_PAGE`] at most.
    async fn read_outbox(&self, project: &ProjectRef) -> Result<Vec<OutboxRecord>, StoreError>;

    /// Takes entries out of a project's outbox. An id that is not there is no error.
    async fn clear_outbox(&self, project: &ProjectRef, ids: Vec<String>) -> Result<(), StoreError>;
}

/// How many entries of an outbox are read at once.
pub const OUTBOX_PAGE: usize = 100;
