//! Every port of the control plane, on SQLite and on PostgreSQL.
//!
//! Each domain's ports are implemented in the folder of its name, over the entities in `entity`, which are private to
//! this crate. Statements of the hot path are in `group_commit`, where many requests share one transaction.
//!
//! The files stand on floors: `entity`, `error` and `pool` below everything; `query`, `sql` and what writes rows above
//! them; then `tx` and `store`; the implementations of ports on top, imported by nobody.

mod after_commit;
mod apps;
mod authority;
mod caller_cache;
mod code_files;
mod connect;
mod connections;
mod convert;
#[expect(unreachable_pub, reason = "sea-orm's derives name what they make `pub`")]
mod entity;
mod error;
mod events;
mod group_commit;
mod identity;
mod imports;
mod installation;
mod observability;
mod outbox;
mod outbox_rows;
mod pool;
mod projects;
mod query;
#[cfg(test)]
mod query_plans;
mod queue_sql;
mod rekey;
mod retention;
mod runs;
mod sql;
mod store;
mod tx;
mod usage;
mod workspace;
mod write_probe;

pub use connect::{DatabaseUrl, DatabaseUrlError};
pub use installation::KeyCheckError;
pub use rekey::{MasterKeyUsage, RekeyReport};
pub use store::Store;
pub use tx::StoreTx;

/// Returns the name of the newest migration that this program knows, which [`Store::open`] brings a database to.
#[must_use]
pub fn schema_version() -> &'static str {
    migrations::newest_migration()
}
