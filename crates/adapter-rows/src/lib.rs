//! Where backend rows live.
//!
//! * [`SqliteRows`]: one SQLite file a project, a few threads for all of them
//! * [`PgRows`]: one PostgreSQL schema a project, several processes at once
//! * [`Shards`]: several of one kind as one, for more than one disk or server holds
//!
//! Both run what [`backend_data::Engine`] compiles and give the same answers.
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
//! // Nobody said that visitors may write.
//! let refused = engine.insert(&project, &Access::Visitor, "notes", "", rows, &options).await;
//! assert_eq!(refused.unwrap_err().code(), "forbidden");
//! # Ok(())
//! # }
//! ```
//! See `docs/decisions/0009-store-rows-apart-from-the-control-plane.md`.

mod postgres;
mod shards;
mod sqlite;
mod statement_time;
mod write_size;

pub use postgres::{PgOptions, PgRows};
pub use shards::{Shards, ShardsError};
pub use sqlite::{SqliteOptions, SqliteRows};
