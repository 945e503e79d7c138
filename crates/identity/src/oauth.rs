//! Agent clients and the grants that people give them (OAuth 2.1, draft-ietf-oauth-v2-1).
//!
//! A client's request is stored as an [`Authorization`], which a person allows or denies. An allowed client receives a
//! code, which it exchanges for a pair of tokens; the exchange creates a [`Grant`]. People list and revoke grants, and
//! every token of a grant ends with it.
//!
//! * [`clients`]: clients that registered (RFC 7591), or that a metadata document describes
//! * [`redirect`] and [`resource`]: redirect URIs, and the resource that tokens are valid for
//! * [`access`]: access levels of clients
//! * [`authorizations`]: from the request to the code
//! * [`pkce`]: proof that a code is exchanged by the client that requested it
//! * [`grants`]: exchanging codes, refreshing and revoking tokens
//! * [`ports`]: the traits that a store implements

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
