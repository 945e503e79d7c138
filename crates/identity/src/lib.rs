//! People, sessions, sign-in and personal access tokens. No I/O happens here.
//!
//! * [`user`]: a person and their address
//! * [`sign_in`]: the e-mail code and the development sign-in
//! * [`sessions`]: signed-in browsers
//! * [`tokens`]: personal access tokens
//! * [`oauth`]: agent clients that people let into a workspace
//! * [`people`]: many people at once
//! * [`ports`]: what these need from a store

pub mod error;
pub mod oauth;
pub mod people;
pub mod ports;
pub mod sessions;
pub mod sign_in;
pub mod tokens;
pub mod user;

pub use error::IdentityError;
pub use ports::{IdentityRead, IdentityTx};
pub use user::{Email, User};
