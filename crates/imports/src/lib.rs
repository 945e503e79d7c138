//! Imports: workflows of n8n, Make and Node-RED become apps (specification part B, "Imports").
//!
//! An export is read into a workflow that all formats can express: steps and the links between them. Each step is
//! translated to JavaScript and [graded](Grade) by what is kept of it. Secrets are removed before anything else reads the export.
//! Nothing here reads or writes outside; [imports] has the use cases and their ports.

mod analysis;
mod bundle;
mod code_names;
mod cron;
mod format;
mod grade;
mod headers;
mod hosts;
pub mod imports;
mod javascript;
mod make;
mod n8n;
mod node_red;
mod order;
pub mod report;
mod secrets;
mod sentences;
mod source;
mod workflow;

pub use analysis::{Analysis, HeaderNeed, Surroundings, analyze};
pub use bundle::{SKIPPED_FILE, skipped_module};
pub use format::Format;
pub use grade::Grade;
pub use n8n::connectors;
pub use report::Report;
pub(crate) use sentences::Sentence;
pub use source::{InvalidSource, MAX_SOURCE_LEN};
