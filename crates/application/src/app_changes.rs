//! Planned changes of apps: planning from instructions, and approval, which moves an app and its automations in one
//! transaction.

mod approve;
mod plan;
mod settled;
mod surroundings;
