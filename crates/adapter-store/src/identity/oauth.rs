//! The ports of `identity`'s agent clients.

mod models;
mod read;
mod write;
