//! What the surfaces (the JSON API, the agent server) share, without HTTP.
//!
//! * [`Application`]: services, settings, and what one process keeps between requests
//! * [`ports`]: the store as one object
//! * [`transaction`]: one transaction around use cases, committed on `Ok`
//! * [`authentication`]: from a credential to its caller
//! * [`authorization`]: from a caller and an id to a proof of authority
//! * [`rate_limits`] and [`attempt_limiter`]: bounds on what a caller may ask for
//! * [`membership`]: people coming into a workspace and leaving it
//! * [`sample_data`] and [`demo`]: what a new workspace contains, and a first call
//! * [`replay`] and [`diagnosis`]: failed runs, run again and explained
//! * [`feeds`]: events of a workspace for those who follow it
//! * [`audit_outbox`] and [`traffic`]: what the data API leaves to be written later
//! * [`oauth_clients`]: clients of agents, registered or described by a document
//! * [`rows_problem()`]: errors of the row engine as problems
//!
//! A use case of one domain is in that domain's crate. Here is what composes several, or needs state of the process.

mod application;
pub mod attempt_limiter;
pub mod audit_outbox;
pub mod authentication;
pub mod authorization;
pub mod demo;
pub mod diagnosis;
pub mod feeds;
pub mod membership;
pub mod oauth_clients;
pub mod ports;
pub mod rate_limits;
pub mod replay;
mod rows_problem;
pub mod sample_data;
pub mod traffic;
pub mod transaction;

pub use application::{Application, Services, Settings};
pub use ports::{Store, Tx};
pub use rows_problem::rows_problem;
