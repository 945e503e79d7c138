#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bytecode;
mod config;
mod cooperative_reader;
mod cpu_usage;
mod engine;
mod exchange;
mod pool;
mod program_build;
mod protocol;
mod spawner;
mod streaming;
mod worker;
mod worker_process;

pub use config::{BytecodeDirectory, ConcurrencyLimits, RuntimeConfig};
pub use engine::QuickJsEngine;
pub use process_snapshot::release_free_memory;
pub use protocol::Confinement;
pub use worker::worker_main;
