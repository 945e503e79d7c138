//! Apps, their versions and manifests, what their code is trusted with, and who may use them. No I/O happens here.

pub mod access;
pub mod apps;
pub mod changes;
pub mod error;
pub mod manifest;
pub mod ports;
#[cfg(test)]
mod testing;
pub mod trust;
pub mod versions;

pub use apps::{App, AppStatus, Category};
pub use error::AppError;
pub use manifest::Manifest;
pub use ports::{AppsRead, AppsTx};
pub use versions::{AppVersion, VersionKind};
