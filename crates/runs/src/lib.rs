//! Automations, webhooks, the queue, and runs of app code. No I/O happens here.
//!
//! * [`automations`]: what starts an app, and when
//! * [`webhooks`]: proof, body and acceptance of inbound calls
//! * [`queue`]: how accepted work is claimed, finished and tried again
//! * [`runs`]: what became of it
//! * [`approvals`]: questions of runs to people
//! * [`diagnosis`]: why it came to that, by rules
//! * [`dead_letters`]: failed runs and refused calls, kept for replay
//! * [`engine`] and [`serve`]: the ports through which app code runs
//! * [`fair_share`]: how much of what all share one workspace may hold
//! * [`ports`]: what these need from a store

pub mod approvals;
pub mod automations;
pub mod dead_letters;
pub mod diagnosis;
pub mod engine;
pub mod error;
pub mod fair_share;
pub mod ports;
pub mod queue;
pub mod runs;
pub mod serve;
#[cfg(test)]
mod testing;
pub mod webhooks;

pub use automations::{Automation, AutomationStatus, Trigger, TriggerKind};
pub use error::RunsError;
pub use ports::{RunsRead, RunsTx};
pub use runs::{Run, RunStatus};
pub use webhooks::Webhook;
