//! The JSON REST API.
//!
//! A handler parses the request, gets a proof of the caller's authority, calls one use case and renders the result. It
//! knows HTTP and JSON but no SQL. The crate has four layers; a file imports only from its own layer and those listed
//! before it:
//!
//! 1. `http` and `state`: errors, extractors, pages, streams, shared types
//! 2. `auth`: the callers of an operation, and the extractors that enforce its access
//! 3. `routes`: one operation per file; `docs/adding-a-route.md` describes how to add one
//! 4. `router`: mounts the operations

mod auth;
mod http;
mod router;
mod routes;
mod state;

pub use auth::agent::{insufficient_scope, refuse_agent};
pub use router::{document, router};
pub use state::{Api, ConsoleEntry, HttpConfig};
