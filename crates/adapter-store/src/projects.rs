//! The ports of `projects`.

mod backend_projects;
mod purge;
mod traffic;
