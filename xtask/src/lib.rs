//! What the developer commands share with the load generator `bench`: the workspace, other programs, a PostgreSQL
//! cluster.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to its terminal")]

pub mod compile;
pub mod postgres;
pub mod shell;
pub mod workspace;
