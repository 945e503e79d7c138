//! The feeds of workspaces: writing events in the order of commits, reading them, and waking those who wait.

mod columns;
pub(crate) mod notifier;
mod publish;
mod read;
mod retention;
pub(crate) mod write;
