//! The surroundings of an app: what an instruction may name.

use kernel::{
    authority::Sharing,
    id::{AutomationId, ConnectionId, ProjectId, VersionId},
};

use crate::Manifest;

/// The app and its workspace as a planner sees them.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// Current version.
    pub version: VersionId,
    /// Manifest of the current version.
    pub manifest: Manifest,
    /// True if the code of the current version answers requests of visitors.
    pub has_fetch: bool,
    /// Sharing of the app.
    pub sharing: Sharing,
    /// True if the planner may share the app.
    pub may_share: bool,
    /// Connections of the workspace that are not disconnected.
    pub connections: Vec<NamedConnection>,
    /// Ids of every connector of the catalogue.
    pub connectors: Vec<&'static str>,
    /// Projects that the planner may view.
    pub projects: Vec<NamedProject>,
    /// Automations of the app.
    pub automations: Vec<NamedAutomation>,
    /// Time zone of a new schedule.
    pub timezone: String,
    /// Hosts whose gate is open.
    pub open_hosts: Vec<String>,
}

/// A connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedConnection {
    /// Id of the connection.
    pub id: ConnectionId,
    /// Display name.
    pub name: String,
    /// Id of its connector.
    pub connector: String,
}

/// A backend project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedProject {
    /// Id of the project.
    pub id: ProjectId,
    /// Display name.
    pub name: String,
    /// Name in URLs.
    pub slug: String,
    /// True if the planner may change its rows.
    pub may_write: bool,
    /// Names of its tables; only [if an instruction mentions any](super::mentions_tables).
    pub tables: Vec<String>,
}

/// An automation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedAutomation {
    /// Id of the automation.
    pub id: AutomationId,
    /// Display name.
    pub name: String,
    /// Cron expression and time zone, if a schedule starts it.
    pub schedule: Option<(String, String)>,
    /// True if it is neither paused nor a draft.
    pub is_active: bool,
    /// Most retries of a failed run.
    pub retries: u8,
}

impl Surroundings {
    /// Returns the names that an instruction may use without quotes. A table needs none beside the word "table".
    pub(super) fn names(&self) -> Vec<&str> {
        let connections = self.connections.iter().map(|it| it.name.as_str());
        let projects = self.projects.iter().flat_map(|it| [it.name.as_str(), it.slug.as_str()]);
        let bindings = self.manifest.permissions.connectors.iter().map(|it| it.name.as_str());
        let bindings = bindings.chain(self.manifest.permissions.data.iter().map(|it| it.name.as_str()));
        self.connectors.iter().copied().chain(bindings).chain(projects).chain(connections).collect()
    }
}
