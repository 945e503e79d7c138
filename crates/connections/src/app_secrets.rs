//! Secrets of an app that belong to no connection: keys for signatures and headers of its own requests.
//!
//! Code gets a handle, whose text is `[secret NAME]`. As the value of a header the text stands for the secret, and the gate
//! puts the secret in its place ([`headers`]); as a key it is imported without being shown. Code gets the value itself
//! only if the manifest and an admin both say so.

mod delete;
mod error;
pub mod headers;
mod name;
mod ports;
mod put;
mod secret;

pub use delete::delete_app_secret;
pub use error::{AppSecretError, InvalidSecret};
pub use name::{AppSecretName, InvalidName};
pub use ports::{AppSecretReader, AppSecretTx};
pub use put::{AppSecretInput, put_app_secret};
pub use secret::{
    AppSecret, AppSecretView, MAX_APP_SECRETS, MAX_SECRET_HOSTS, MAX_VALUE_CHARS, SealedAppSecret,
};
