//! Options of reads and writes.

use crate::{
    query::{Count, Prefer, Resolution, Return},
    store::Format,
};

/// Options of a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// True to count all matching rows: [`Page::total`](super::Page::total).
    pub include_count: bool,
    /// The way to count them; `None` for [`Count::Exact`].
    pub count_kind: Option<Count>,
    /// True to require exactly one row and to return it as an object. Any other number is
    /// [`ErrorKind::NotAcceptable`](crate::ErrorKind::NotAcceptable).
    pub single_object: bool,
    /// The text form of the rows.
    pub format: Format,
    /// The `Range` header: the zero-based first and last row, to which the page of the query is narrowed.
    pub range: Option<(u64, Option<u64>)>,
}

/// Options of a write.
///
/// ```
/// use backend_data::{Prefer, WriteOptions};
///
/// let prefer = Prefer::parse("return=minimal, handling=strict, max-affected=10")?;
/// let options = WriteOptions::from_prefer(&prefer, false);
/// assert_eq!((options.minimal, options.max_affected), (true, Some(10)));
/// # Ok::<(), backend_data::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteOptions {
    /// True to return only the number of rows.
    pub minimal: bool,
    /// True to return the ids of inserted rows, whatever the query selects.
    pub only_ids: bool,
    /// True to require that exactly one row is written, and to return it as an object. Any other number undoes the
    /// write: [`ErrorKind::NotAcceptable`](crate::ErrorKind::NotAcceptable).
    pub single_object: bool,
    /// Maximum number of rows that the write touches; more undo it with `too_many_rows`.
    pub max_affected: Option<u64>,
    /// The treatment of existing rows by an insert; `None` refuses the insert with `row_exists` or `value_exists`.
    pub resolution: Option<Resolution>,
    /// True to give a row that leaves out one of the query's `columns` the default of the column, rather than null.
    pub missing_default: bool,
    /// The text form of the rows that are returned.
    pub format: Format,
    /// True if the body of an insert is CSV (RFC 4180) rather than JSON.
    pub csv_body: bool,
}

impl ReadOptions {
    pub(super) fn effective_count(&self) -> Option<Count> {
        self.include_count.then(|| self.count_kind.unwrap_or(Count::Exact))
    }
}

impl WriteOptions {
    /// Creates the options of a `Prefer` header. `single_object` is true if the `Accept` header requests one row.
    #[must_use]
    pub fn from_prefer(prefer: &Prefer, single_object: bool) -> Self {
        Self {
            minimal: prefer.returns == Some(Return::Minimal),
            only_ids: prefer.returns == Some(Return::HeadersOnly),
            single_object,
            // `max-affected` needs `handling=strict` (PostgREST, "Max Affected").
            max_affected: prefer.max_affected.filter(|_| prefer.strict),
            resolution: prefer.resolution,
            missing_default: prefer.missing_default,
            ..Self::default()
        }
    }
}
