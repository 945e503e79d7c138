//! The engine with real worker processes.

#![allow(
    dead_code,
    clippy::allow_attributes,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests say so by failing"
)]

mod aborts;
mod bytecode;
mod compression;
mod conformance;
mod cpu_time;
mod crypto;
mod encodings;
mod fairness;
mod fetched_bodies;
mod files;
mod handlers;
mod intl;
mod isolation;
mod libraries;

mod limits;
mod numbers;
mod secrets;
mod standard;
mod standards;
mod streams;
mod support;
mod surface;
mod types;
mod typescript;
