//! The row query language, as PostgREST speaks it: the tree of a query, and reading it from a query string.

pub(crate) mod cursor;
mod logic;
mod parse;
pub(crate) mod pattern;
mod prefer;
mod render;
mod scanner;

pub use prefer::{Count, Prefer, Resolution, Return};

use crate::rule::Comparison;

/// The longest query string that is read.
pub const MAX_QUERY: usize = 16 * 1024;
/// How deep `and` and `or` may nest.
pub const MAX_DEPTH: usize = 8;
/// The most tests of one query.
pub const MAX_TESTS: usize = 100;
/// The most members of one list.
pub const MAX_LIST: usize = 1_000;
/// The most values of every `(any)` and `(all)` of one query together.
pub const MAX_OPERANDS: usize = 500;
/// The most regular expressions of one query.
pub const MAX_PATTERNS: usize = 10;
/// The most members that arrays in the document of a `cs` or `cd` have: each is looked for in the whole document of a row,
/// and PostgreSQL does not stop while it does.
pub const MAX_CONTAINED: usize = 100;
/// The most items of `select`.
pub const MAX_SELECT: usize = 200;
/// The most items of `select` that show the same column, or places in it: each may be as large as the column.
pub const MAX_SAME_COLUMN: usize = 20;
/// The most terms of `order`.
pub const MAX_ORDER: usize = 100;
/// The most steps of a path into a document.
pub const MAX_STEPS: usize = 64;
/// The most rows of one answer.
pub const MAX_LIMIT: u64 = 1_000;

/// Everything a query string can say about rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// What to show; every readable column where nothing is said.
    pub select: Vec<SelectItem>,
    /// What rows must meet, all of it.
    pub filter: Vec<Filter>,
    /// In what order; rows that tie follow their id.
    pub order: Vec<OrderTerm>,
    /// How many rows at most.
    pub limit: Option<u64>,
    /// How many rows to pass over.
    pub offset: u64,
    /// The columns an insert writes, where the caller names them.
    pub columns: Option<Vec<String>>,
    /// The columns whose conflict an upsert resolves.
    pub on_conflict: Option<Vec<String>>,
    /// Where the page before ended; empty for the first page of a walk with cursors.
    pub cursor: Option<String>,
}

/// One item of `select`.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectItem {
    /// `*`: every readable column.
    All,
    /// `alias:path::cast`, perhaps aggregated.
    Field {
        /// The name in the answer.
        alias: Option<String>,
        /// What is shown.
        path: Path,
        /// The type the values are cast to before they are put together.
        input_cast: Option<String>,
        /// The type it is cast to.
        cast: Option<String>,
        /// How rows are put together.
        aggregate: Option<Aggregate>,
    },
    /// `count()`: how many rows.
    Count {
        /// The name in the answer.
        alias: Option<String>,
        /// The type it is cast to.
        cast: Option<String>,
    },
}

impl SelectItem {
    /// A column under its own name.
    #[must_use]
    pub fn column(name: &str) -> Self {
        Self::Field { alias: None, path: Path::column(name), input_cast: None, cast: None, aggregate: None }
    }
}

/// How the values of many rows become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aggregate {
    /// Their sum.
    Sum,
    /// Their mean.
    Avg,
    /// How many there are.
    Count,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

/// A column, or a place inside a json column.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// The column.
    pub column: String,
    /// The way into its document.
    pub steps: Vec<Step>,
}

/// One step into a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// Where to.
    pub key: Key,
    /// Whether the value is taken as text (`->>`).
    pub as_text: bool,
}

/// Where a step goes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// The member of this name.
    Name(String),
    /// The element at this place, from the end where negative.
    Index(i64),
}

/// A condition on rows.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// Every one holds.
    And(Vec<Filter>),
    /// One holds.
    Or(Vec<Filter>),
    /// It does not hold.
    Not(Box<Filter>),
    /// A value passes a test.
    Test(Path, Test),
}

/// What is asked of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// `eq.`, `neq.`, `gt.`, `gte.`, `lt.`, `lte.`
    Compare(Comparison, Operands),
    /// `like.` and `ilike.`, the pattern with `%` for any text.
    Like {
        /// Whether `a` matches `A`.
        ignore_case: bool,
        /// The patterns.
        patterns: Operands,
    },
    /// `match.` and `imatch.`: a regular expression.
    Match {
        /// Whether `a` matches `A`.
        ignore_case: bool,
        /// The expressions.
        patterns: Operands,
    },
    /// `in.(…)`
    In(Vec<String>),
    /// `is.null` and its like.
    Is(Is),
    /// `isdistinct.`: not equal, null being a value.
    IsDistinct(String),
    /// `cs.`: the document contains this one.
    Contains(String),
    /// `cd.`: the document is contained in this one.
    ContainedIn(String),
}

/// What a value is compared to.
#[derive(Clone, Debug, PartialEq)]
pub enum Operands {
    /// One value.
    One(String),
    /// `(any)`: one of them must pass.
    Any(Vec<String>),
    /// `(all)`: all of them must pass.
    All(Vec<String>),
}

/// What `is` asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    /// It is null.
    Null,
    /// It is not null.
    NotNull,
    /// It is true.
    True,
    /// It is false.
    False,
    /// It is neither true nor false.
    Unknown,
}

/// One term of `order`.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderTerm {
    /// By what.
    pub path: Path,
    /// Greatest first.
    pub descending: bool,
    /// Whether nulls come first; last when ascending and first when descending where nothing is said.
    pub nulls_first: bool,
}

impl Path {
    /// A column itself.
    #[must_use]
    pub fn column(name: &str) -> Self {
        Self { column: name.to_owned(), steps: Vec::new() }
    }
}
