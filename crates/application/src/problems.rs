//! The one table from the errors of the domains to kind, code, message and hint.
//!
//! One file a domain. Each `match` names every variant, so an error without an entry does not compile. Domain errors carry
//! facts; how they read on the wire is said here.

mod apps;
mod connections;
mod identity;
mod imports;
mod kernel;
mod projects;
mod rows;
mod runs;
#[cfg(test)]
mod tests;
mod webhooks;
mod workspace;

pub use rows::rows_problem;
