//! People, sessions, sign-in and personal access tokens. No I/O happens here.
//!
//! * [`user`]: a person and their address
//! * [`sign_in`]: the e-mail code and the development sign-in
//! * [`device`]: signing a command line in from a browser
//! * [`passkeys`] and [`oidc`]: proof by a device, and by another issuer
//! * [`sessions`]: signed-in browsers
//! * [`tokens`]: personal access tokens
//! * [`oauth`]: agent clients that people let into a workspace
//! * [`people`]: many people at once
//! * [`ports`]: what these need from a store

pub mod device;
pub mod error;
pub mod oauth;
pub mod oidc;
pub mod passkeys;
pub mod people;
pub mod ports;
pub mod sessions;
pub mod sign_in;
#[cfg(test)]
mod testing;
mod text;
pub mod tokens;
pub mod user;

pub use error::IdentityError;
pub use ports::{IdentityRead, IdentityTx};
pub use user::{Email, User};
