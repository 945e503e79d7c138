//! What the crate does to servers that answer as a test wants, in one program.

#![allow(clippy::allow_attributes, clippy::unwrap_used, clippy::panic, reason = "tests say so by failing")]

mod documents;
mod gate;
mod spans;
