//! Versions of apps, for the API and the agent server: what a new version may ask for, and comparing and going back.

mod code;
mod compare;
mod connectors;
mod consequences;
mod earlier;
mod gates;
mod manifest;
mod projects;
mod publish;
mod roll_back;

pub use code::check_code;
pub(crate) use code::handlers;
pub use compare::ComparedVersions;
pub use connectors::check_connectors;
pub use consequences::Consequences;
pub(crate) use consequences::schedule_state;
pub use gates::create_gates;
pub use manifest::parse_manifest;
pub use projects::check_projects;
pub(crate) use publish::recheck_projects;
pub use publish::{CurrentVersion, NewVersion};
pub use roll_back::RolledBackVersion;
