//! The JSON REST API.
//!
//! A handler parses, asks for the caller's authority, calls one use case and renders. It knows HTTP and JSON and no
//! SQL. One operation is one file under `routes`; `docs/adding-a-route.md` tells how to add one.

mod access;
mod agents;
mod authority;
mod credentials;
mod demo;
mod diagnoses;
mod docs;
mod door;
mod envelope;
mod extract;
mod feeds;
mod guesses;
mod host;
mod limits;
mod moment;
mod openapi;
mod outbox;
mod pages;
mod people;
mod pieces;
mod ports;
mod replays;
mod routes;
mod starter;
mod state;
mod traffic;

pub use agents::insufficient_scope;
pub use authority::membership_of;
pub use credentials::{Uses, personal_caller};
pub use demo::DemoCall;
pub use feeds::{AgentAlert, AgentEvent, AgentEventKind, AgentFeed};
pub use openapi::document;
pub use people::end_access;
pub use ports::{Store, Tx};
pub use routes::router;
pub use state::{Api, Config, Services};
