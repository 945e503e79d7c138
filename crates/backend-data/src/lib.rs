//! An embeddable engine for tables whose rows browsers and servers read and write directly.
//!
//! The crate does no I/O. An [`Engine`] checks the caller, parses the query, applies the row rules and compiles a
//! statement; a [`RowStore`] runs it. The crate `adapter-rows` has stores for SQLite and PostgreSQL. Rows come in and
//! go out as JSON or CSV text, without a tree of values in between.
//!
//! * [`query`]: the query language, which is PostgREST's, as a tree and as text
//! * [`rule`]: the conditions under which callers may read and write rows
//! * [`catalog`] and [`index`]: the tables, columns and indexes of a project
//! * [`store`]: the port that a store implements
//! * [`functions`]: the SQL functions that a store over SQLite registers
//!
//! Parsing a query string needs no engine and no store:
//!
//! ```
//! use backend_data::{Query, query::{Filter, Operands, Path, Test}, rule::Comparison};
//!
//! let query = Query::parse("select=title,qty&qty=gt.3&order=qty.desc&limit=20")?;
//! assert_eq!(query.limit, Some(20));
//! assert_eq!(
//!     query.filter,
//!     [Filter::Test(Path::column("qty"), Test::Compare(Comparison::Gt, Operands::One("3".into())))]
//! );
//! # Ok::<(), backend_data::Error>(())
//! ```
//!
//! [`RowStore`] has an example of an engine over a store of your own, and `examples/embed.rs` of `adapter-rows` is a
//! service that embeds the engine over a SQLite file.
//!
//! # Features
//!
//! * `system`, off by default: `System`, the clock and the random numbers of the operating system, and
//!   `Engine::with_system`. Without it, pass a [`Clock`] and a [`Random`] to [`Engine::new`].

pub mod access;
pub mod catalog;
mod csv;
mod describe;
mod engine;
mod error;
pub mod functions;
mod ident;
pub mod index;
mod json;
mod objects;
mod output;
pub mod query;
mod record_splitter;
pub mod rule;
mod sql;
pub mod store;
mod system;
mod timestamp;
mod value;

pub use access::{Access, Person, Scope};
pub use catalog::{Catalog, Column, ColumnType, NewColumn, NewTable, Table};
pub use describe::ExposedSchema;
pub use engine::{
    Engine, FileFormat, ImportOptions, ImportReport, ImportSource, Limits, Operation, OperationKind, Page,
    Progress, ReadOptions, RowResult, RowTest, RuleResult, RuleTest, RuleTestReport, TableTest,
    WriteObserver, WriteOptions, WriteOutcome,
};
pub use error::{Error, ErrorKind, Result};
pub use ident::{MAX_COLUMN_NAME, MAX_TABLE_NAME, ProjectId, ProjectRef, ShareId};
pub use index::{Index, NewIndex};
pub use output::{OutputColumn, RowWriter};
pub use query::{Count, Prefer, Query, Resolution, Return};
pub use rule::Rule;
pub use store::{Dialect, Format, RowStore, StoreError};
#[cfg(feature = "system")]
pub use system::System;
pub use system::{Clock, Random};
pub use timestamp::Micros;
pub use value::Value;
