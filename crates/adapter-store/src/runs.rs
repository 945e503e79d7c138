//! The ports of `runs`; those of the hot path are in `group_commit`.

mod agent_tools;
mod approvals;
mod cancel;
mod dead_letters;
mod diagnosis;
mod held;
mod locked_automation;
pub(crate) mod models;
mod names;
mod read;
mod refused_calls;
mod retention;
mod schedules;
pub(crate) mod write;
