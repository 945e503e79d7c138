//! Backend projects as the control plane keeps them: who may do what with one, its settings and its keys.
//!
//! The rows, tables and rules of a project are the business of `backend-data`, which knows no workspaces.

pub mod access;
pub mod error;
pub mod identity_provider;
pub mod keys;
pub mod person_token;
pub mod ports;
pub mod projects;
#[cfg(test)]
mod testing;
pub mod traffic;

pub use access::{ProjectAccess, ProjectFact, ProjectRight, authorize_project};
pub use error::ProjectError;
pub use identity_provider::{IdentityProvider, NewIdentityProvider, SigningKey};
pub use keys::{KeyKind, KeyScope, KeyScopes, ProjectKey};
pub use person_token::{PersonClaims, PersonTokenError, PersonTokenVerifier};
pub use ports::{ProjectsRead, ProjectsTx};
pub use projects::{Project, Settings, SettingsChange};
