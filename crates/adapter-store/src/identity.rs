//! The ports of `identity`.

mod devices;
mod models;
mod oauth;
mod oidc;
mod passkeys;
mod people;
mod read;
mod session_list;
mod write;
