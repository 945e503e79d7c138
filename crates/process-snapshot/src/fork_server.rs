//! A process that is ready, copied for each worker that is wanted.
//!
//! Starting a program, linking it and building a runtime takes far longer than copying a process that has done so, and
//! copies share the memory that none of them writes to.
//!
//! The parent ([`ForkServer`]) starts the process with a socket as its stdin. Each message from the parent is one byte with
//! the two pipes of a new worker (`SCM_RIGHTS` of unix(7)); the process ([`serve`]) replies with the worker's process id.

mod client;
mod server;

pub use client::{ForkServer, ForkedProcess};
pub use server::{ServeError, serve};

/// Reply in place of a process id when no process could be made.
const FORK_FAILED: i32 = 0;
