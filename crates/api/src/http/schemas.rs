//! Descriptions of domain types, one file for each domain crate.
//!
//! Domain crates do not depend on `utoipa`, and the orphan rule forbids implementing its traits for their types here. A
//! field of a domain type therefore names its description: `#[schema(value_type = schemas::runs::RunStatus)]`, or
//! `#[param(value_type = …)]` in a query. A description has the name of its type and no values; nothing creates one.
//!
//! An enumeration takes its names from the type itself ([`enumeration`]). What a struct repeats is compared with the
//! type by `agreement`.

#[cfg(test)]
mod agreement;
mod enumeration;
mod serde_names;

pub(crate) mod application;
pub(crate) mod apps;
pub(crate) mod backend_data;
pub(crate) mod connections;
pub(crate) mod identity;
pub(crate) mod imports;
pub(crate) mod observability;
pub(crate) mod projects;
pub(crate) mod runs;
pub(crate) mod workspace;
