//! The port behind the engine: a [`RowStore`] runs the statements that the engine compiles, and stores each project's
//! catalog beside its rows.
//!
//! Statements name only what the catalog holds, and every value from a request is a parameter, so that a store never
//! has to escape or parse anything. A statement is compiled for one version of the catalog; a store that finds another
//! version changes nothing and returns [`StoreError::Stale`].

use std::{fmt, ops::Range};

use async_trait::async_trait;

use crate::{
    catalog::{Catalog, ColumnType},
    error::Error,
    ident::ProjectRef,
    output::OutputColumn,
    value::Value,
};

pub use crate::{error::StoreError, output::Format};

/// The SQL dialect of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// SQLite 3.40 or later, with these functions registered; all of them return null for null:
    ///
    /// * `qala_like(text, pattern)` and `qala_ilike(text, pattern)`: `LIKE` as in PostgreSQL, with `%`, `_` and `\`,
    ///   and the same ignoring case
    /// * `qala_match(text, expression)`: true if the regular expression is found in the text
    /// * `qala_json(document, steps)`, `qala_json_text(document, steps)`, `qala_json_order(document)`,
    ///   `qala_json_contains(outer, inner)` and `qala_cast(value, from, to)`: see [`crate::functions`]
    Sqlite,
    /// PostgreSQL 15 or later.
    Postgres,
}

/// The form in which statements name a project's tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableScope {
    /// The prefix of a quoted table name: `"schema".`, or empty.
    pub prefix: String,
    /// An SQL expression that yields the current version of the catalog; `None` if no other process can change it.
    /// Writes compare it to the version they were compiled for.
    pub schema_version_check: Option<String>,
}

/// A statement that reads rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The version of the catalog that the statement was compiled for.
    pub version: u64,
    /// One `SELECT`.
    pub sql: String,
    /// The values of its parameters, in order.
    pub params: Vec<Value>,
    /// The columns of each row that go into the result.
    pub output: Vec<OutputColumn>,
    /// The columns that follow `output` in each row, for [`StatementResult::cursor_keys`]. Only their values in the
    /// last row are needed.
    pub cursor_keys: Vec<OutputColumn>,
    /// The text form of the rows.
    pub format: Format,
    /// For a read of one row by its id: the byte range in `sql` of that id, which is the first parameter and occurs
    /// nowhere else. Such a read is shorter than handing it to another thread. With another expression in the range, it
    /// is the same read of another row.
    pub id_placeholder: Option<Range<usize>>,
    /// True if `output` has whole columns, each once, so that writing a row costs no more than its bytes.
    pub is_plain: bool,
    /// The statement that counts the matching rows, if they are to be counted.
    pub count: Option<CountStatement>,
    /// Maximum length of [`StatementResult::body`] in bytes; beyond it, the read is [`StoreError::ResultTooLarge`].
    pub max_bytes: usize,
}

/// A statement that counts rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountStatement {
    /// One `SELECT count(*)`.
    pub sql: String,
    /// Number of parameters it uses: the first ones of [`Read::params`].
    pub params: usize,
    /// An estimate to use instead; `None` if the number must be exact.
    pub estimate: Option<CountEstimate>,
}

/// An estimate of the number of matching rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CountEstimate {
    /// A statement that yields the estimate in place of the count, in a time that does not depend on how many rows
    /// match. For SQLite, which has no statistics of its rows. It uses the parameters of the count.
    Bounded(String),
    /// The number of rows that PostgreSQL's planner expects of a statement. If it is small, the rows are counted.
    Planned {
        /// The statement to plan. It uses the parameters of the count.
        sql: String,
        /// The largest expected number of rows that are counted instead; 0 for never.
        exact_up_to: u64,
    },
}

/// The direction of one term of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortDirection {
    /// True if the greatest value comes first.
    pub descending: bool,
    /// True if nulls come before all values.
    pub nulls_first: bool,
}

/// A statement that changes rows, all or nothing.
///
/// A row that it returns has these columns, in this order: those of `output`; a boolean if `has_check_column`; a
/// boolean if `has_inserted_column`; one for each term of `order`.
#[derive(Clone, Debug, PartialEq)]
pub struct Write {
    /// The version of the catalog that the statement was compiled for.
    pub version: u64,
    /// One `INSERT`, `UPDATE` or `DELETE`.
    pub sql: String,
    /// The rows to insert; `None` for an update or a delete. SQLite runs the statement once for each row, PostgreSQL
    /// runs it once with an array for each column. The values of a row are the first parameters; the first one is its
    /// id.
    pub rows: Option<Vec<Vec<Value>>>,
    /// The types of the values of a row.
    pub row_types: Vec<ColumnType>,
    /// The parameters that follow those of a row.
    pub params: Vec<Value>,
    /// The columns of each row that go into the result; empty if only the number of rows is wanted.
    pub output: Vec<OutputColumn>,
    /// True if the statement returns a check column. A row in which it is not true undoes the write:
    /// [`StoreError::CheckFailed`].
    pub has_check_column: bool,
    /// True if a row of `rows` that touches no row undoes the write: [`StoreError::CheckFailed`].
    pub requires_every_row: bool,
    /// True if the statement returns a column that is true in a row that was inserted and false in one that was
    /// updated.
    pub has_inserted_column: bool,
    /// The directions of the order in which the result has the rows. Empty for the order in which they were sent or,
    /// for an update or a delete, any order.
    pub order: Vec<SortDirection>,
    /// The positions of the values of a row that identify the existing row it conflicts with: those of the columns of a
    /// unique index. Empty if the id does.
    pub conflict_positions: Vec<usize>,
    /// The text form of the rows.
    pub format: Format,
    /// Maximum number of rows touched; more undo the write: [`StoreError::TooManyRows`].
    pub max_rows: Option<u64>,
    /// True if the statement can touch at most one row.
    pub is_single_row: bool,
    /// True if any other number of rows touched than one undoes the write: [`StoreError::WrongRowCount`].
    pub exactly_one: bool,
    /// Maximum length of [`StatementResult::body`] in bytes; beyond it, the write is undone:
    /// [`StoreError::ResultTooLarge`]. A store that runs a write without a transaction
    /// ([`needs_transaction`](Self::needs_transaction)) may return its one row anyway.
    pub max_bytes: usize,
    /// Storage limit of the project in bytes: the write is refused as [`StoreError::StorageFull`] if the project's rows
    /// take as many already. `None` without a limit and for a write that only removes rows.
    pub max_stored_bytes: Option<u64>,
    /// The entries that the write adds to the project's outbox.
    pub outbox: Vec<OutboxEntry>,
}

impl Write {
    /// Returns true if the write may have to be undone after the statement ran, so that it must run in a transaction.
    #[must_use]
    pub fn needs_transaction(&self) -> bool {
        let shown = self.rows.is_none() && !self.output.is_empty();
        let counted = self.exactly_one || self.requires_every_row || self.max_rows.is_some();
        self.has_check_column || !self.outbox.is_empty() || !self.is_single_row && (counted || shown)
    }
}

/// The rows of an import in batches; each row has a value for each of [`Write::row_types`].
pub type RowBatches = Box<dyn Iterator<Item = Result<Vec<Vec<Value>>, Error>> + Send>;

/// An insert of rows that come in batches, all or nothing.
pub struct Import {
    /// The statement that inserts each batch; it has no rows of its own.
    pub write: Write,
    /// Reads the batches from the first one. A store that meets a conflicting write undoes what it wrote and calls this
    /// again. An error, of this call or of a batch, undoes the import: [`StoreError::ImportRejected`].
    pub batches: Box<dyn Fn() -> Result<RowBatches, Error> + Send + Sync>,
    /// The entries that the import adds to the project's outbox.
    pub outbox: Vec<OutboxEntry>,
}

impl fmt::Debug for Import {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Import").field("write", &self.write).finish_non_exhaustive()
    }
}

/// A new catalog and the statements that change the database accordingly, in one transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemaChange {
    /// The version of the catalog that the change replaces. If the store has another one: [`StoreError::Stale`].
    pub from_version: u64,
    /// The new catalog; its version is the next one.
    pub catalog: Catalog,
    /// The statements, in order.
    pub statements: Vec<String>,
    /// A table that must be empty; otherwise: [`StoreError::TableNotEmpty`].
    pub only_if_empty: Option<String>,
    /// Storage limit of the project in bytes, as [`Write::max_stored_bytes`]; set for a change that creates an index.
    pub max_stored_bytes: Option<u64>,
    /// The entries that the change adds to the project's outbox.
    pub outbox: Vec<OutboxEntry>,
}

/// An entry of a project's outbox: a message of a change for a system beside the store, an audit log for example.
///
/// It is added in the transaction of the change and stays until that system has received it
/// ([`Engine::clear_outbox`](crate::Engine::clear_outbox)), so that neither a crash nor a full disk loses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxEntry {
    /// The unique id of the entry. It may be delivered more than once, and receivers deduplicate by it.
    pub id: String,
    /// The message; the store does not read it.
    pub body: String,
}

/// An entry that an outbox holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxRecord {
    /// The entry that the change added.
    pub entry: OutboxEntry,
    /// Number of rows that the change touched; `None` for a change of the schema.
    pub rows: Option<u64>,
}

/// The result of a statement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatementResult {
    /// The rows in the format of the statement; empty for a write without output.
    pub body: Vec<u8>,
    /// Number of rows read or touched.
    pub rows: u64,
    /// Number of matching rows regardless of limit and offset, if the statement counts them.
    pub total: Option<u64>,
    /// Number of rows that were inserted rather than updated, if [`Write::has_inserted_column`].
    pub inserted: Option<u64>,
    /// The values of [`Read::cursor_keys`] in the last row, as a JSON array of one object; `None` without keys or rows.
    pub cursor_keys: Option<Vec<u8>>,
}

/// A store of the rows and catalogs of projects, and the port that the engine runs statements on.
///
/// A store bounds the time of each statement ([`StoreError::Timeout`]) and checks the version of the catalog that it
/// was compiled for ([`StoreError::Stale`]). [`RowWriter`](crate::RowWriter) writes rows in each [`Format`] within
/// [`Read::max_bytes`].
///
/// A store with one fixed table and row, such as a test may use:
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
/// struct FixedTable;
///
/// #[async_trait]
/// impl RowStore for FixedTable {
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
/// struct Constant;
/// impl Clock for Constant {
///     fn now(&self) -> Micros {
///         Micros::EPOCH
///     }
/// }
/// impl Random for Constant {
///     fn fill(&self, bytes: &mut [u8]) {
///         bytes.fill(4);
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let engine = Engine::new(Arc::new(FixedTable), Arc::new(Constant), Arc::new(Constant), Limits::default());
/// let (project, read) = (ProjectRef::new("shop".parse()?, 0), ReadOptions::default());
/// let page = engine.list(&project, &Access::Visitor, "notes", "select=id", &read).await?;
/// assert_eq!(&page.body[..], br#"[{"id":"tea"}]"#);
/// # Ok::<(), backend_data::Error>(())
/// # }).unwrap();
/// ```
#[async_trait]
pub trait RowStore: Send + Sync + 'static {
    /// Returns the SQL dialect that statements must have.
    fn dialect(&self) -> Dialect;

    /// Returns the form in which statements name the project's tables.
    fn table_scope(&self, project: &ProjectRef) -> TableScope;

    /// Creates a project without tables. An existing one does not change.
    async fn create_project(&self, project: &ProjectRef) -> Result<(), StoreError>;

    /// Deletes a project with all of its rows. It is not an error if the project does not exist.
    async fn drop_project(&self, project: &ProjectRef) -> Result<(), StoreError>;

    /// Returns the project's catalog, or `None` if there is no such project.
    async fn catalog(&self, project: &ProjectRef) -> Result<Option<Catalog>, StoreError>;

    /// Applies a schema change, all or nothing.
    ///
    /// # Errors
    /// [`StoreError::Stale`] if the catalog has another version than [`SchemaChange::from_version`], or there is no
    /// such project; [`StoreError::TableNotEmpty`]; [`StoreError::UniqueViolation`] if rows have the same values in the
    /// columns of a new unique index; [`StoreError::StorageFull`].
    async fn apply_schema_change(&self, project: &ProjectRef, change: SchemaChange)
    -> Result<(), StoreError>;

    /// Reads rows. The count, if there is one, is of the same state of the table as the rows.
    ///
    /// # Errors
    /// [`StoreError::Stale`], [`StoreError::ResultTooLarge`], [`StoreError::DataException`] and
    /// [`StoreError::Timeout`].
    async fn read(&self, project: &ProjectRef, read: Read) -> Result<StatementResult, StoreError>;

    /// Changes rows, all or nothing. The change is durable once this returns.
    ///
    /// # Errors
    /// Those that the fields of [`Write`] name, and [`StoreError::Stale`], [`StoreError::RowExists`],
    /// [`StoreError::UniqueViolation`], [`StoreError::TooLongForIndex`], [`StoreError::DataException`],
    /// [`StoreError::Timeout`] and [`StoreError::WriteConflict`].
    async fn write(&self, project: &ProjectRef, write: Write) -> Result<StatementResult, StoreError>;

    /// Runs several writes in order, all or nothing; each sees the changes of those before it. Their results together
    /// are no larger than [`Write::max_bytes`].
    ///
    /// # Errors
    /// [`StoreError::BatchWriteFailed`] with the error of the write that failed, or an error that concerns all of them.
    async fn write_all(
        &self,
        project: &ProjectRef,
        writes: Vec<Write>,
    ) -> Result<Vec<StatementResult>, StoreError>;

    /// Inserts rows that come in batches, all or nothing, and returns their number. Each batch has the time limit of a
    /// statement.
    ///
    /// # Errors
    /// Those of [`RowStore::write`], and [`StoreError::ImportRejected`].
    async fn import(&self, project: &ProjectRef, import: Import) -> Result<u64, StoreError>;

    /// Returns the bytes that the project's rows take, with their indexes. Space that deleted rows left for new ones
    /// does not count. The number may be an estimate if an exact one would take longer the more rows there are.
    ///
    /// # Errors
    /// [`StoreError::Stale`] if there is no such project.
    async fn stored_bytes(&self, project: &ProjectRef) -> Result<u64, StoreError>;

    /// Returns the projects whose outboxes may hold entries, among them those that an earlier process left. A store may
    /// leave out entries that are a few seconds old, which the process that added them still delivers itself.
    async fn pending_outboxes(&self) -> Result<Vec<ProjectRef>, StoreError>;

    /// Returns the oldest entries of a project's outbox, at most [`OUTBOX_PAGE`].
    async fn read_outbox(&self, project: &ProjectRef) -> Result<Vec<OutboxRecord>, StoreError>;

    /// Removes entries from a project's outbox. Unknown ids are ignored.
    async fn clear_outbox(&self, project: &ProjectRef, ids: Vec<String>) -> Result<(), StoreError>;
}

/// Maximum number of entries that [`RowStore::read_outbox`] returns.
pub const OUTBOX_PAGE: usize = 100;
