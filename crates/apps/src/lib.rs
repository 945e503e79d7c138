//! Apps: their versions and manifests, how far their code can be trusted, and who may use them. No I/O happens here.
//!
//! * [`apps`]: creating, changing and deleting apps
//! * [`versions`]: immutable states of an app's code
//! * [`manifest`]: what an app asks for, its bounds, and the differences between two manifests
//! * [`access`]: sharing and grants
//! * [`changes`]: planned changes that a person reviews first
//! * [`drafts`]: code that a person tries before it is a version
//! * [`templates`]: apps to start from
//! * [`trust`]: the trust score of a version
//! * [`storage`]: which versions keep their files, and the upkeep of stored code
//! * [`safe_band`]: what may be published without a person who approves it
//! * [`ports`]: what these need from a store

pub mod access;
pub mod apps;
mod change_state;
pub mod changes;
pub mod drafts;
pub mod error;
mod invalid_input;
pub mod manifest;
pub mod ports;
pub mod safe_band;
pub mod storage;
pub mod templates;
#[cfg(test)]
mod testing;
pub mod trust;
pub mod versions;

pub use apps::{App, AppStatus, Category};
pub use error::AppError;
pub use invalid_input::{InvalidInput, InvalidManifest, InvalidText};
pub use manifest::Manifest;
pub use ports::{AppsRead, AppsTx};
pub use versions::{AppVersion, VersionKind};
