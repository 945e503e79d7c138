//! Every port of the control plane, on SQLite and on PostgreSQL.
//!
//! The entities are private to this crate. Each domain's ports are implemented in the folder of its name; what
//! must be fast is in `hot`, where many requests share one transaction.

mod apps;
mod connect;
mod connections;
mod convert;
mod entity;
mod error;
mod events;
mod hot;
mod identity;
mod installation;
mod oauth;
mod observability;
mod outbox;
mod people;
#[cfg(test)]
mod plans;
mod projects;
mod rekey;
mod remembered;
mod runs;
mod sql;
mod store;
mod sweep;
mod traffic;
mod tx;
mod workspace;

pub use connect::{DatabaseUrl, DatabaseUrlError};
pub use installation::KeyCheckError;
pub use rekey::{Rekeyed, RestsOn};
pub use store::Store;
pub use tx::StoreTx;

/// The name of the newest migration that this program knows: what [`Store::open`] brings a database to.
#[must_use]
pub fn schema_version() -> String {
    migrations::newest()
}
