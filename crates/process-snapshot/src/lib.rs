#![doc = include_str!("../README.md")]

mod bytecode;
mod child_process;
mod fork_server;
mod free_memory;
mod heap;
mod isolation;
mod memory_meter;
mod runtime;
mod typed_array;
mod yield_timer;

pub use bytecode::{Bytecode, DeclaredModule};
pub use child_process::{ChildProcess, Priority};
pub use fork_server::{ForkServer, ForkedProcess, ServeError, serve};
pub use free_memory::release_free_memory;
pub use isolation::{Namespace, close_inherited_descriptors, unshare_namespace};
pub use memory_meter::MemoryMeter;
pub use runtime::{MeteredRuntime, SnapshotRuntime};
pub use typed_array::{copy_bytes, copy_range};
pub use yield_timer::{install_alarm_handler, run_yielding, without_yielding};
