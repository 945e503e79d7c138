//! The ports of `runs`, save for the hot path.

mod approvals;
mod dead_letters;
mod diagnosis;
pub(crate) mod models;
mod read;
mod retention;
mod schedules;
pub(crate) mod write;
