//! The people of workspaces: members, invites, join domains, and the audit log as it is read.

mod audit;
mod invites;
mod join_domains;
mod members;
mod users;
