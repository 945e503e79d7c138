#![doc = include_str!("../README.md")]

mod child;
mod config;
mod engine;
mod exchange;
mod in_turns;
mod pool;
mod process;
mod protocol;
mod spawner;
mod streaming;
mod worker;

pub use config::{Places, RuntimeConfig};
pub use engine::QuickJsEngine;
pub use protocol::Confinement;
pub use worker::worker_main;
