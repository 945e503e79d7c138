//! Tests of outbound requests, against servers that respond as each test wants; one program.

#![allow(clippy::allow_attributes, clippy::unwrap_used, clippy::panic, reason = "tests say so by failing")]

mod connection;
mod documents;
mod gate;
mod secrets;
mod spans;
mod tokens;
