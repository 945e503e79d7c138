//! The query language of rows, which is PostgREST's: the tree of a query, and its parser.
//!
//! [`Query::parse`] reads a query string. A [`Filter`], a [`Test`], [`Operands`] and a [`Path`] are written back in the
//! language by their `Display`; every value is then quoted.
//!
//! ```
//! use backend_data::Query;
//!
//! let query = Query::parse("stars=not.eq.5&or=(title.like.T*,stars.is.null)")?;
//! let filters: Vec<String> = query.filter.iter().map(ToString::to_string).collect();
//! assert_eq!(filters, [r#""stars".not.eq."5""#, r#"or("title".like."T%","stars".is.null)"#]);
//! # Ok::<(), backend_data::Error>(())
//! ```

pub(crate) mod cursor;
mod logic;
mod parse;
mod path;
pub(crate) mod pattern;
mod prefer;
mod render;
mod scanner;

pub use prefer::{Count, Prefer, Resolution, Return};

use crate::rule::Comparison;

/// Maximum length of a query string in bytes, before percent-decoding.
pub const MAX_QUERY: usize = 16 * 1024;
/// Maximum depth to which `and` and `or` nest.
pub const MAX_DEPTH: usize = 8;
/// Maximum number of tests in a query.
pub const MAX_TESTS: usize = 100;
/// Maximum number of members of a list.
pub const MAX_LIST: usize = 1_000;
/// Maximum number of values of all `(any)` and `(all)` in a query together.
pub const MAX_OPERANDS: usize = 500;
/// Maximum number of regular expressions in a query.
pub const MAX_PATTERNS: usize = 10;
/// Maximum number of members of the arrays in the document of a `cs` or `cd`, at all depths. Each is searched for in
/// the whole document of a row, and PostgreSQL cannot be interrupted meanwhile.
pub const MAX_CONTAINED: usize = 100;
/// Maximum number of items of `select`.
pub const MAX_SELECT: usize = 200;
/// Maximum number of items of `select` that are the same column, or parts of it: each may be as large as the column.
pub const MAX_SAME_COLUMN: usize = 20;
/// Maximum number of terms of `order`.
pub const MAX_ORDER: usize = 100;
/// Maximum number of steps of a path into a document.
pub const MAX_STEPS: usize = 64;
/// Maximum number of rows of a page.
pub const MAX_LIMIT: u64 = 1_000;

/// The tree of a query string.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// The items to return; empty for every column that the caller may read.
    pub select: Vec<SelectItem>,
    /// The filters, all of which must hold.
    pub filter: Vec<Filter>,
    /// The order of the rows; rows that tie follow their id.
    pub order: Vec<OrderTerm>,
    /// Maximum number of rows; a page has at most [`MAX_LIMIT`].
    pub limit: Option<u64>,
    /// Number of rows to skip.
    pub offset: u64,
    /// The columns that an insert writes; `None` for those that its first row has.
    pub columns: Option<Vec<String>>,
    /// The columns by which an upsert finds existing rows; `None` for `id`.
    pub on_conflict: Option<Vec<String>>,
    /// The cursor that the previous page returned; empty for the first page.
    pub cursor: Option<String>,
}

/// One item of `select`.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectItem {
    /// `*`: every readable column.
    All,
    /// `alias:path::cast` or `alias:path::input_cast.aggregate()::cast`.
    Field {
        /// The name in the result; by default the last name of the path, or that of the aggregate.
        alias: Option<String>,
        /// The column, or the part of its document.
        path: Path,
        /// The type that values are cast to before they are aggregated.
        input_cast: Option<String>,
        /// The type that the value or the aggregate is cast to.
        cast: Option<String>,
        /// The aggregate over all rows, or over each group of the items that have none.
        aggregate: Option<Aggregate>,
    },
    /// `count()`: the number of rows.
    Count {
        /// The name in the result; `count` by default.
        alias: Option<String>,
        /// The type that the number is cast to.
        cast: Option<String>,
    },
}

impl SelectItem {
    /// Selects a column under its own name.
    #[must_use]
    pub fn column(name: &str) -> Self {
        Self::Field { alias: None, path: Path::column(name), input_cast: None, cast: None, aggregate: None }
    }
}

/// A function that turns the values of several rows into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// The sum of the values.
    Sum,
    /// The arithmetic mean of the values.
    Avg,
    /// The number of values that are not null.
    Count,
    /// The least value.
    Min,
    /// The greatest value.
    Max,
}

/// A column, or a part of the document in a `json` column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// The name of the column.
    pub column: String,
    /// The steps into its document, at most [`MAX_STEPS`]; empty for the column itself.
    pub steps: Vec<Step>,
}

/// One step into a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The member or element that the step goes to.
    pub key: Key,
    /// True for `->>`, which yields text. Only the last step can.
    pub as_text: bool,
}

/// The member of an object, or the element of an array, that a step goes to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// The member of this name.
    Name(String),
    /// The element at this zero-based position; negative counts from the end, -1 being the last.
    Index(i64),
}

/// A condition on rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// All of the filters hold.
    And(Vec<Filter>),
    /// One of the filters holds.
    Or(Vec<Filter>),
    /// The filter does not hold.
    Not(Box<Filter>),
    /// The value at the path passes the test.
    Test(Path, Test),
}

/// A test of a value. Operands are text as the query string has them; they are converted to the type of the column when
/// the query is compiled.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// `eq.`, `neq.`, `gt.`, `gte.`, `lt.`, `lte.`: a comparison.
    Compare(Comparison, Operands),
    /// `like.` and `ilike.`: a pattern in which `%` matches any text and `_` one character. [`Query::parse`] also takes
    /// `*` for `%`.
    Like {
        /// True for `ilike`, which ignores case.
        ignore_case: bool,
        /// The patterns.
        patterns: Operands,
    },
    /// `match.` and `imatch.`: a regular expression that is found in the text.
    Match {
        /// True for `imatch`, which ignores case.
        ignore_case: bool,
        /// The expressions.
        patterns: Operands,
    },
    /// `in.(…)`: equal to one of these values.
    In(Vec<String>),
    /// `is.`: null, true, false or unknown.
    Is(Is),
    /// `isdistinct.`: not equal, with null as a value.
    IsDistinct(String),
    /// `cs.`: the document contains this one.
    Contains(String),
    /// `cd.`: the document is contained in this one.
    ContainedIn(String),
}

/// The values that a test compares to.
#[derive(Clone, Debug, PartialEq)]
pub enum Operands {
    /// One value.
    One(String),
    /// `(any)`: the test holds for at least one of these values.
    Any(Vec<String>),
    /// `(all)`: the test holds for all of these values.
    All(Vec<String>),
}

/// The operand of `is`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    /// `null`: the value is null.
    Null,
    /// `not_null`: the value is not null.
    NotNull,
    /// `true`: the boolean is true.
    True,
    /// `false`: the boolean is false, not null.
    False,
    /// `unknown`: the boolean is null.
    Unknown,
}

/// One term of `order`.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderTerm {
    /// The column, or the part of its document, whose values rows are ordered by.
    pub path: Path,
    /// True if the greatest value comes first.
    pub descending: bool,
    /// True if nulls come before all values. By default, nulls are greater than all values, as in PostgreSQL.
    pub nulls_first: bool,
}

impl Path {
    /// Creates the path of a column itself.
    #[must_use]
    pub fn column(name: &str) -> Self {
        Self { column: name.to_owned(), steps: Vec::new() }
    }
}
