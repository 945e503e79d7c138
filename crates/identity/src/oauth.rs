//! Agent clients that people let into a workspace (OAuth 2.1, draft-ietf-oauth-v2-1).
//!
//! A client asks, and an [`Authorization`] is kept. A person decides about it; if they allow it, the client gets a
//! code, which it exchanges for a pair of tokens, and a [`Grant`] comes to be. The grant is what people see and end;
//! every token of it ends with it.
//!
//! * [`clients`]: programs, registered (RFC 7591) or described by a document of their own
//! * [`redirect`] and [`resource`]: where answers go, and what tokens are for
//! * [`access`]: what a client may do
//! * [`authorizations`]: from the question to the code
//! * [`pkce`]: the proof that whoever has a code asked for it
//! * [`grants`]: exchanging, refreshing, revoking
//! * [`ports`]: what these need from a store

pub mod access;
pub mod authorizations;
pub mod clients;
pub mod error;
pub mod grants;
pub mod pkce;
pub mod ports;
pub mod redirect;
pub mod resource;

pub use access::AgentAccess;
pub use authorizations::{Authorization, AuthorizationStage};
pub use clients::{Client, ClientDocumentFetcher, ClientKind, ClientSnapshot};
pub use error::{ConsentError, GrantError};
pub use grants::{AccessToken, Grant, RefreshToken, revoke_grants_of};
pub use ports::{OAuthRead, OAuthTx};
pub use redirect::RedirectUri;
