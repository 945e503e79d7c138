//! Logic that the JSON API and the agent server share, without HTTP.
//!
//! * [`Application`]: services, settings and the state of the process
//! * [`ports`]: the store as one trait object
//! * [`transaction`]: runs use cases in one transaction, committed on `Ok`
//! * [`authentication`]: resolves a credential to its caller
//! * [`authorization`]: turns a caller and an id into a proof of authority
//! * [`late_proof`]: proves a caller's rights again when the body of a request arrives late
//! * `drafts`: trying code that is not a version
//! * `automations`: starts of automations and calls of tools
//! * [`rate_limits`] and [`attempt_limiter`]: limit a caller's requests and wrong device codes
//! * [`membership`]: joining and leaving a workspace, across domains
//! * [`overview`]: the states of apps, and which of them need somebody
//! * [`search`]: objects of a workspace by name or id
//! * [`sample_data`] and [`demo`]: the content of a new workspace, and a first call of its webhook
//! * [`request_span`]: what the log says about a request
//! * `app_changes`: planning changes of apps, and approving them
//! * [`app_versions`]: what a version may ask for, and comparing and going back to versions
//! * [`templates`]: apps from templates, with their tables and automations
//! * [`imports`]: apps from workflows of other tools
//! * [`replay`] and [`diagnosis`]: replay and explain failed runs
//! * `run_results`: what the code of runs returned
//! * [`feeds`]: events of a workspace for streams and for agents that poll
//! * [`audit_outbox`] and [`traffic`]: audit entries and request counts of the data API, written after the request
//! * [`oauth_clients`]: finds agent clients, registered or described by a document
//! * [`problem`] and [`problems`]: refusals and failures as callers get them, and which error becomes which
//!
//! A use case of one domain is in that domain's crate. This crate has what combines several domains or needs state of
//! the process.

mod app_changes;
pub mod app_versions;
mod application;
pub mod attempt_limiter;
pub mod audit_outbox;
pub mod authentication;
pub mod authorization;
mod automations;
mod connection_tests;
pub mod demo;
pub mod diagnosis;
mod drafts;
pub mod feeds;
pub mod imports;
pub mod late_proof;
pub mod membership;
pub mod oauth_clients;
pub mod overview;
pub mod ports;
pub mod problem;
pub mod problems;
mod project_location;
pub mod rate_limits;
pub mod refused_calls;
pub mod replay;
pub mod request_span;
pub mod row_counts;
mod run_results;
pub mod sample_data;
pub mod search;
pub mod templates;
pub mod traffic;
pub mod transaction;
pub mod turns;
mod workspace_shares;

pub use application::{Application, Services, Settings};
pub use ports::{Store, Tx};
pub use problem::{Problem, ProblemKind};
pub use problems::rows_problem;
