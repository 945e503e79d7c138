//! The engine with real worker processes.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests say so by failing")]

mod handlers;
mod support;
