//! Imports of other tools' workflows: what is read of an export becomes an app, and a person decides about it.

mod analyze;
mod create;
mod discard;
mod enable;
mod surroundings;

pub use enable::EnabledImport;
pub use surroundings::{ImportConnector, ImportContext, ImportMatch};
