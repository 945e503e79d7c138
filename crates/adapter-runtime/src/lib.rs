#![doc = include_str!("../README.md")]

mod config;
mod engine;
mod exchange;
mod pool;
mod process;
mod protocol;
mod streaming;
mod worker;

pub use config::RuntimeConfig;
pub use engine::QuickJsEngine;
pub use protocol::Confinement;
pub use worker::worker_main;
