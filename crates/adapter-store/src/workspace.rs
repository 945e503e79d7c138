//! The ports of `workspace`.

mod audit_log;
mod audited_objects;
mod deletion;
mod invites;
mod join_domains;
mod members;
mod purge;
mod workspaces;
