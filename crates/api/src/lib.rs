//! The JSON REST API.
//!
//! A handler parses, has its caller's authority proved, calls one use case and renders. It knows HTTP and JSON and no
//! SQL. The crate has four floors; a file imports from its own floor and those below:
//!
//! 1. [`http`] and [`state`]: errors, extractors, pages, streams, shared shapes
//! 2. [`auth`]: who may call an operation, and the extractor that enforces it
//! 3. [`routes`]: one operation a file; `docs/adding-a-route.md` tells how to add one
//! 4. [`router`]: mounts the operations

mod auth;
mod http;
mod router;
mod routes;
mod state;

pub use auth::agent::insufficient_scope;
pub use router::{document, router};
pub use state::{Api, HttpConfig};
