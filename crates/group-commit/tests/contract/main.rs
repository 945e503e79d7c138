//! Contract of the group commit, with a writer that keeps its operations in memory.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected has failed")]

mod any_operations;
mod batches;
mod durability;
mod failures;
mod memory_writer;
mod shutdown;
