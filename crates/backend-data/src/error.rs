//! Errors of the engine. Code, message, details and hint may be sent to the caller; internal causes stay in
//! [`std::error::Error::source`], for logs.

mod store;

use std::fmt;

pub use store::StoreError;

/// The kind of an error, which a transport maps to a status code (RFC 9110, section 15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request is invalid: 400.
    Invalid,
    /// The caller is not authenticated: 401. The engine itself authenticates nobody and never returns it.
    Unauthorized,
    /// The caller may not do this: 403.
    Forbidden,
    /// There is no such object, or the caller may not see it: 404.
    NotFound,
    /// The request conflicts with what exists: 409.
    Conflict,
    /// The object is not as the caller expects it: 412.
    PreconditionFailed,
    /// The request or its response exceeds a limit of size: 413.
    TooLarge,
    /// The response cannot have the requested form, one row for example: 406.
    NotAcceptable,
    /// The requested range is outside the rows: 416.
    Range,
    /// The statement exceeded its time limit: 503, since the same request may succeed later.
    Timeout,
    /// The store is not available: 503.
    Unavailable,
    /// The engine or the store failed: 500.
    Internal,
}

/// An error of the engine: a refused request or a failure.
///
/// Every error has a stable [`code`](Self::code), the [`pgrst_code`](Self::pgrst_code) that clients of PostgREST
/// expect, and a [`message`](Self::message), which its `Display` shows. Nothing in them is internal; the cause of a
/// failure is its [`source`](std::error::Error::source).
///
/// ```
/// use backend_data::{ErrorKind, Query};
///
/// let error = Query::parse("limit=few").unwrap_err();
/// assert_eq!((error.kind(), error.pgrst_code()), (ErrorKind::Invalid, "PGRST100"));
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    code: &'static str,
    pgrst: &'static str,
    message: Box<str>,
    details: Option<Box<str>>,
    hint: Option<Box<str>>,
    total: Option<u64>,
    #[source]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// A result with an [`Error`] of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn new(
        kind: ErrorKind,
        code: &'static str,
        pgrst: &'static str,
        message: impl fmt::Display,
    ) -> Self {
        let message = message.to_string().into();
        Self { kind, code, pgrst, message, details: None, hint: None, total: None, source: None }
    }

    /// Creates the error of an invalid request: `invalid_request`, PGRST100 (a query that does not parse).
    pub(crate) fn invalid_request(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Invalid, "invalid_request", "PGRST100", message)
    }

    /// Creates the error of a value that does not fit its column: 22P02, PostgreSQL's `invalid_text_representation`.
    pub(crate) fn invalid_value(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Invalid, "invalid_value", "22P02", message)
    }

    /// Creates the error of a body that does not have the expected shape.
    pub(crate) fn invalid_body(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Invalid, "invalid_body", "PGRST102", message)
    }

    /// Creates the error of a part of PostgREST's language that the engine does not have.
    pub(crate) fn unsupported(what: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Invalid, "unsupported_query", "PGRST127", format!("{what} is not supported yet"))
    }

    pub(crate) fn forbidden(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Forbidden, "forbidden", "42501", message)
    }

    pub(crate) fn conflict(code: &'static str, pgrst: &'static str, message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::Conflict, code, pgrst, message)
    }

    pub(crate) fn too_large(message: impl fmt::Display) -> Self {
        Self::new(ErrorKind::TooLarge, "too_large", "54000", message)
    }

    pub(crate) fn project_not_found() -> Self {
        Self::new(ErrorKind::NotFound, "project_not_found", "PGRST106", "there is no such project")
    }

    pub(crate) fn table_not_found(table: &str) -> Self {
        let message = format!("there is no table {}", Quoted(table));
        Self::new(ErrorKind::NotFound, "table_not_found", "PGRST205", message)
    }

    pub(crate) fn column_not_found(table: &str, column: &str) -> Self {
        let message = format!("table {} has no column {}", Quoted(table), Quoted(column));
        Self::new(ErrorKind::Invalid, "column_not_found", "42703", message)
    }

    pub(crate) fn column_exists(column: &str) -> Self {
        Self::conflict("column_exists", "42701", format!("column {} exists already", Quoted(column)))
    }

    pub(crate) fn index_not_found(table: &str, index: &str) -> Self {
        let message = format!("table {} has no index {}", Quoted(table), Quoted(index));
        Self::new(ErrorKind::NotFound, "index_not_found", "42704", message)
    }

    /// Creates the error of a unique index that existing rows violate.
    pub(crate) fn duplicate_values() -> Self {
        Self::conflict("values_repeat", "23505", "rows have the same values in these columns")
            .with_hint("Change or delete all but one of them, then create the index again.")
    }

    pub(crate) fn row_not_found() -> Self {
        Self::new(ErrorKind::NotFound, "row_not_found", "PGRST116", "there is no such row")
    }

    pub(crate) fn changed_meanwhile() -> Self {
        let message = "the row has changed since you read it, so nothing was written";
        Self::new(ErrorKind::PreconditionFailed, "changed_meanwhile", "changed_meanwhile", message)
            .with_hint("Read it again. If you still want the change, send it with the new ETag in If-Match.")
    }

    pub(crate) fn internal(message: &'static str) -> Self {
        Self::new(ErrorKind::Internal, "internal", "XX000", message)
    }

    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string().into());
        self
    }

    #[must_use]
    pub(crate) fn with_details(mut self, details: impl fmt::Display) -> Self {
        self.details = Some(details.to_string().into());
        self
    }

    #[must_use]
    pub(crate) fn with_total(mut self, total: u64) -> Self {
        self.total = Some(total);
        self
    }

    /// Adds the number of the row to the details; the first row is 1.
    #[must_use]
    pub(crate) fn in_row(self, row: usize) -> Self {
        self.in_position(format_args!("row {row}"))
    }

    /// Adds the number of a line of a file to the details; the first line is 1.
    #[must_use]
    pub(crate) fn in_line(self, line: u64) -> Self {
        self.in_position(format_args!("line {line}"))
    }

    /// Adds a position in a file to the details, such as `line 7`.
    #[must_use]
    pub(crate) fn in_position(self, position: impl fmt::Display) -> Self {
        let details = match self.details() {
            // The parser of the record has said it.
            Some(details) if details.starts_with("In line ") => return self,
            Some(details) => format!("In {position}. {details}"),
            None => format!("In {position}."),
        };
        self.with_details(details)
    }

    /// Creates the error of an import whose text could not be read.
    pub(crate) fn unreadable_source(source: std::io::Error) -> Self {
        let source = Some(source.into());
        Self { source, ..Self::internal("the rows could not be read") }
    }

    /// Adds the zero-based number of the operation to the details.
    #[must_use]
    pub(crate) fn in_operation(self, at: usize) -> Self {
        let details = match self.details() {
            Some(details) => format!("In operation {at}. Nothing was changed. {details}"),
            None => format!("In operation {at}. Nothing was changed."),
        };
        self.with_details(details)
    }

    /// Returns the kind, which a transport maps to a status code.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the stable code of this crate, such as `table_not_found`. Branch on it, not on the message.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.code
    }

    /// Returns the code that a client of PostgREST expects: `PGRST…`, or an SQLSTATE of PostgreSQL.
    #[must_use]
    pub fn pgrst_code(&self) -> &'static str {
        self.pgrst
    }

    /// Returns one sentence for people, in lower case and without a full stop.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns details for people, such as the row of a body that was refused.
    #[must_use]
    pub fn details(&self) -> Option<&str> {
        self.details.as_deref()
    }

    /// Returns the number of matching rows if the requested range is outside them and they were counted.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// Returns an instruction for people: what to send or do instead.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::RowExists => {
                Self::conflict("row_exists", "23505", "a row with this id exists already")
                    .with_hint("Send `Prefer: resolution=merge-duplicates` to update it instead.")
            }
            StoreError::UniqueViolation => {
                let message = "a row with the same values in the columns of a unique index exists already";
                Self::conflict("value_exists", "23505", message).with_hint(
                    "Send `Prefer: resolution=merge-duplicates` and name the columns of the index in `on_conflict` to update it instead.",
                )
            }
            StoreError::TooLongForIndex => Self::invalid_value(
                "a value of an indexed column is too long for an index, which holds about 2,700 bytes",
            ),
            StoreError::CheckFailed => {
                Self::forbidden("the rules of this table do not allow a row with these values")
            }
            StoreError::TooManyRows { limit } => {
                let message = format!("the request touches more than {limit} rows; nothing was changed");
                Self::new(ErrorKind::Invalid, "too_many_rows", "PGRST124", message)
            }
            StoreError::WrongRowCount { rows } => {
                let message = "the result must be exactly one row";
                Self::new(ErrorKind::NotAcceptable, "not_one_row", "PGRST116", message)
                    .with_details(format!("The result contains {rows} rows."))
            }
            StoreError::StorageFull { limit } => {
                let message = format!("the project has used all of its storage: {}", ByteSize(limit));
                Self::conflict("storage_full", "53100", message).with_hint(
                    "Delete rows, or move to a plan with more storage. Reads and deletes still work.",
                )
            }
            StoreError::ResultTooLarge { limit } => {
                Self::too_large(format!("the response would be larger than {limit} bytes"))
                    .with_hint("Ask for fewer rows or fewer columns.")
            }
            StoreError::BatchWriteFailed { at, source } => Self::from(*source).in_operation(at),
            StoreError::ImportRejected(refusal) => *refusal,
            StoreError::DataException => Self::new(
                ErrorKind::Invalid,
                "invalid_value",
                "22P02",
                "a value of a row does not fit the cast, or a sum is too large for an integer",
            ),
            StoreError::TableNotEmpty => Self::conflict(
                "column_needs_value",
                "23502",
                "a column that is not nullable can only be added to an empty table",
            )
            .with_hint("Add the column as nullable."),
            StoreError::Timeout => Self::new(
                ErrorKind::Timeout,
                "statement_timeout",
                "57014",
                "the statement took too long and was stopped; nothing was changed",
            ),
            StoreError::WriteConflict(source) => Self {
                source: Some(source),
                ..Self::new(
                    ErrorKind::Unavailable,
                    "write_conflict",
                    "40001",
                    "other writes changed the same rows at the same time; nothing was changed",
                )
                .with_hint("Send the request again. Writes of fewer rows conflict less often.")
            },
            StoreError::Unavailable(source) => Self {
                source: Some(source),
                ..Self::new(ErrorKind::Unavailable, "unavailable", "PGRST001", "the store is not available")
            },
            StoreError::Stale => Self::new(
                ErrorKind::Conflict,
                "schema_changed",
                "PGRST205",
                "the schema changed while the request ran; send it again",
            ),
            StoreError::Internal(source) => {
                Self { source: Some(source), ..Self::internal("the store failed unexpectedly") }
            }
        }
    }
}

/// A number of bytes, shown in GiB or MiB if it is a whole number of them.
struct ByteSize(u64);

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes > 0 && bytes % (1 << 30) == 0 => write!(f, "{} GiB", bytes >> 30),
            bytes if bytes > 0 && bytes % (1 << 20) == 0 => write!(f, "{} MiB", bytes >> 20),
            bytes => write!(f, "{bytes} bytes"),
        }
    }
}

/// Text of a request in quotes, for a message: at most 64 characters of it, without control characters.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 64;
        f.write_str("\"")?;
        for c in self.0.chars().take(SHOWN).filter(|c| !c.is_control()) {
            write!(f, "{c}")?;
        }
        f.write_str(if self.0.chars().nth(SHOWN).is_some() { "…\"" } else { "\"" })
    }
}
