//! Stores of the rows of backend projects, for [`backend_data::Engine`].
//!
//! * [`SqliteRows`]: one SQLite file per project, in a directory that one process owns
//! * [`PgRows`]: one PostgreSQL schema per project, in a database that several processes may share
//! * [`Shards`]: several stores of one kind as one, for more rows than one disk or server holds
//!
//! The results of a request are the same on both databases.
//!
//! ```
//! use std::sync::Arc;
//!
//! use adapter_rows::{SqliteOptions, SqliteRows};
//! use backend_data::{Access, ColumnType, Engine, NewColumn, NewTable, ProjectRef, ReadOptions, WriteOptions};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let directory = directory.path();
//! let engine = Engine::with_system(Arc::new(SqliteRows::open(SqliteOptions::new(directory))?));
//! let project = ProjectRef::new("shop".parse()?, 0);
//! engine.create_project(&project).await?;
//! let notes = NewTable::new("notes").with_column(NewColumn::new("title", ColumnType::Text)).public();
//! engine.create_table(&project, &Access::Owner, notes).await?;
//!
//! let (rows, options) = (br#"{"title":"Tea"}"#, WriteOptions::default());
//! engine.insert(&project, &Access::Owner, "notes", "", rows, &options).await?;
//!
//! let read = ReadOptions::default();
//! let page = engine.list(&project, &Access::Visitor, "notes", "select=title", &read).await?;
//! assert_eq!(&page.body[..], br#"[{"title":"Tea"}]"#);
//! // The table is public to read. No rule lets visitors write.
//! let refused = engine.insert(&project, &Access::Visitor, "notes", "", rows, &options).await;
//! assert_eq!(refused.unwrap_err().code(), "forbidden");
//! # Ok(())
//! # }
//! ```
//!
//! See `docs/decisions/0009-store-rows-apart-from-the-control-plane.md`.

mod postgres;
mod shards;
mod share_key;
mod sqlite;
mod statement_time;
mod write_size;

pub use postgres::{PgOptions, PgRows};
pub use shards::{Shards, ShardsError};
pub use sqlite::{SqliteOptions, SqliteRows};
