//! Automations, webhooks, the queue, and runs of app code. No I/O happens here.

pub mod engine;
