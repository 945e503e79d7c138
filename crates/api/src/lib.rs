//! The JSON REST API.
//!
//! A handler parses, asks for the caller's authority, calls one use case and renders. It knows HTTP and JSON and no
//! SQL. One operation is one file under `routes`; `docs/adding-a-route.md` tells how to add one.

mod access;
mod agent_auth;
mod attempt_limiter;
mod authority;
mod credentials;
mod demo;
mod diagnoses;
mod docs;
mod envelope;
mod extract;
mod feeds;
mod host_routing;
mod limits;
mod openapi;
mod outbox;
mod pages;
mod people;
mod ports;
mod replays;
mod request_middleware;
mod rfc3339;
mod routes;
mod sample_data;
mod state;
mod traffic;
mod yielding_body;

pub use agent_auth::insufficient_scope;
pub use authority::membership_of;
pub use credentials::{LastUsed, personal_caller};
pub use demo::DemoCall;
pub use feeds::{AgentAlert, AgentEvent, AgentEventKind, AgentFeed};
pub use openapi::document;
pub use people::revoke_access;
pub use ports::{Store, Tx};
pub use routes::router;
pub use state::{Api, Config, Services};
