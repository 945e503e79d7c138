//! Automations, webhooks, the queue, and runs of app code. No I/O happens here.
//!
//! * [`agent_tools`]: automations that agents start by name
//! * [`automations`]: triggers of apps, their settings and schedules
//! * [`webhooks`]: proof, body and acceptance of inbound calls
//! * [`queue`]: claiming, finishing and retrying accepted work
//! * [`quota`]: what becomes of a run beyond the quota of the month
//! * [`runs`]: states and results of runs
//! * [`approvals`]: questions of runs to people
//! * [`diagnosis`]: explanations of results, by rules
//! * [`dead_letters`]: failed runs and refused calls, kept for replay
//! * [`drafts`]: code that a person tries before it is a version
//! * [`engine`] and [`serve`]: the ports through which app code runs
//! * [`fair_share`]: the share of a common resource that one workspace may hold
//! * [`ports`]: requirements on a store

pub mod agent_tools;
pub mod approvals;
pub mod automations;
pub mod dead_letters;
pub mod diagnosis;
pub mod drafts;
pub mod engine;
pub mod error;
pub mod fair_share;
mod fault;
mod invalid_input;
pub mod ports;
pub mod queue;
pub mod quota;
pub mod runs;
pub mod serve;
#[cfg(test)]
mod testing;
pub mod webhooks;

pub use automations::{Automation, AutomationStatus, Trigger, TriggerKind};
pub use error::{RunsError, WebhookBreakage};
pub use invalid_input::InvalidInput;
pub use ports::{RunsRead, RunsTx};
pub use runs::{Run, RunStatus};
pub use webhooks::Webhook;
