//! People, sessions, sign-in and personal access tokens. No I/O happens here.
//!
//! * [`user`]: a person and their e-mail address
//! * [`sign_in`]: sign-in by e-mail, and for development
//! * [`device`]: device login of a command line
//! * [`passkeys`] and [`oidc`]: sign-in with a passkey, and through an OpenID Connect issuer
//! * [`sessions`]: sign-ins of browsers
//! * [`tokens`]: personal access tokens
//! * [`oauth`]: agent clients and the grants people give them
//! * [`people`]: online status, and the end of a person's tokens in a workspace
//! * [`ports`]: the traits that a store implements

pub mod device;
pub mod error;
mod invalid_input;
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
pub use invalid_input::InvalidInput;
pub use ports::{IdentityRead, IdentityTx};
pub use user::{Email, User};
