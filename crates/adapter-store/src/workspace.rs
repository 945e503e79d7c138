//! The ports of `workspace`.

mod audit_log;
mod deletion;
mod invites;
mod join_domains;
mod members;
mod purge;
mod workspaces;
