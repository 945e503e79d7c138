//! The web console: files for browsers, built from `web/` and embedded, and the router that serves them.
//!
//! A document of the API crate loads [`entry`]; every file it names has a hash of its content in its name, so browsers
//! may keep it forever. If the console was not built, [`MISSING`] says why and there are no files. See
//! `docs/decisions/0146-the-console-takes-over-documents-of-the-server.md`.

mod content_coding;
mod file;
mod serve;

pub use file::{Entry, MISSING, entry};
pub use serve::router;
