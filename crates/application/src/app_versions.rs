//! Versions of apps, for the API and the agent server: what a new version may ask for, and comparing and going back.

mod code;
mod compare;
mod connectors;
mod gates;
mod manifest;
mod projects;
mod roll_back;

pub use code::check_code;
pub use compare::ComparedVersions;
pub use connectors::check_connectors;
pub use gates::create_gates;
pub use manifest::parse_manifest;
pub use projects::check_projects;
pub use roll_back::RolledBackVersion;
