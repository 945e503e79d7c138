//! Projects of tables whose rows browsers and servers read and write directly: an engine to embed.
//!
//! The crate does no I/O. An [`Engine`] checks who calls, reads the query language, applies the row rules and
//! compiles one statement; a [`RowStore`] runs it. There are stores for SQLite and PostgreSQL in `adapter-rows`.
//! Rows come in as JSON text and go out as JSON text; no tree of values stands between.
//!
//! * [`query`]: the language of PostgREST, as a tree and as text
//! * [`rule`]: who may do what to which rows
//! * [`catalog`]: the tables of a project
//! * [`store`]: the port
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
//! `examples/embed.rs` of `adapter-rows` is a service that embeds the engine over a SQLite file.
//!
//! # Features
//!
//! * `system`: [`Engine::with_system`], the machine's clock and randomness; without it both come from outside
//! * `openapi`: `utoipa` schemas of the types that stand in requests and answers

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
#[cfg(feature = "openapi")]
mod schema;
mod sql;
pub mod store;
mod system;
mod timestamp;
mod value;

pub use access::{Access, Person, Scope};
pub use catalog::{Catalog, Column, ColumnType, NewColumn, NewTable, Table};
pub use describe::ExposedSchema;
pub use engine::{
    Engine, FileFormat, ImportOptions, ImportSource, Limits, Operation, OperationKind, Page, Progress,
    ReadOptions, RowResult, RuleResult, RuleTest, RuleTestReport, WriteOptions, WriteOutcome,
};
pub use error::{Error, ErrorKind, Result};
pub use ident::{MAX_COLUMN_NAME, MAX_TABLE_NAME, ProjectId, ProjectRef};
pub use index::{Index, NewIndex};
pub use output::{OutputColumn, RowWriter};
pub use query::{Count, Prefer, Query, Resolution, Return};
pub use rule::Rule;
#[cfg(feature = "openapi")]
pub use schema::{ColumnName, RuleText, TableName};
pub use store::{Dialect, Format, RowStore, StoreError};
#[cfg(feature = "system")]
pub use system::System;
pub use system::{Clock, Random};
pub use timestamp::Micros;
pub use value::Value;
