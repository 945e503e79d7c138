//! Where backend rows live.
//!
//! * [`SqliteRows`]: one SQLite file a project, a few threads for all of them
//! * [`PgRows`]: one PostgreSQL schema a project, several processes at once
//!
//! Both run what [`backend_data::Engine`] compiles and give the same answers.

mod postgres;
mod sqlite;

pub use postgres::{PgOptions, PgRows};
pub use sqlite::{SqliteOptions, SqliteRows};
