//! The parts of the developer commands that the load generator `bench` uses too: the workspace, running other programs,
//! and a PostgreSQL cluster.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line tool talks to its terminal")]

pub mod compile;
pub mod postgres;
pub mod shell;
pub mod workspace;
