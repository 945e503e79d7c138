//! Backend projects in the control plane. No I/O happens here.
//!
//! The tables, rows and policies of a project are in `backend-data`, which knows nothing of workspaces.
//!
//! * [`projects`]: creating, restoring and configuring projects
//! * [`access`]: who may do what with a project
//! * [`keys`]: keys of the data API
//! * [`identity_provider`] and [`person_token`]: the tokens of people who are signed in to a project's own site
//! * [`traffic`]: records and counts of requests to the data API
//! * [`ports`]: what these need from a store

pub mod access;
pub mod error;
pub mod identity_provider;
mod invalid_input;
pub mod keys;
pub mod person_token;
pub mod ports;
pub mod projects;
#[cfg(test)]
mod testing;
pub mod traffic;
mod verification_key;

pub use access::{ProjectAccess, ProjectFact, ProjectRight, authorize_project};
pub use error::ProjectError;
pub use identity_provider::{IdentityProvider, NewIdentityProvider, SigningKey};
pub use invalid_input::{InvalidInput, InvalidVerificationKey};
pub use keys::{KeyKind, KeyScope, KeyScopes, ProjectKey};
pub use person_token::{ClaimNames, JwtVerifier, PersonClaims, PersonTokenError, PersonTokenVerifier};
pub use ports::{ProjectsRead, ProjectsTx};
pub use projects::{Project, Settings, SettingsChange};
