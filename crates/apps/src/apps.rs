//! Apps, and the use cases that create, change and delete them.

mod create;
mod delete;
mod update;

use kernel::{
    Timestamp,
    authority::{AppFact, AppRights, Sharing},
    id::{AppId, UserId, VersionId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

pub use create::{CreateApp, create_app};
pub use delete::delete_app;
pub use update::{UpdateApp, update_app};

/// The subject of an app, for people who look for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Pages that people use.
    Interface,
    /// Storing data.
    Data,
    /// Sending messages to people.
    Messaging,
    /// Payments and invoices.
    Money,
    /// AI models.
    Ai,
    /// Schedules.
    Time,
    /// Customers and colleagues.
    People,
    /// Marketing and sales.
    Growth,
}

kernel::names! {
    Category {
        Interface = "interface",
        Data = "data",
        Messaging = "messaging",
        Money = "money",
        Ai = "ai",
        Time = "time",
        People = "people",
        Growth = "growth",
    }
}

/// The state of an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AppStatus {
    /// The app has no version yet.
    Draft,
    /// A version is being built.
    Building,
    /// The app has a version and is not paused.
    Healthy,
    /// Some of the app's runs fail.
    Warning,
    /// The app's runs fail.
    Failing,
    /// An editor paused the app.
    Paused,
}

impl AppStatus {
    /// Returns the state that an app has by itself: paused before draft before healthy.
    #[must_use]
    pub fn of(is_paused: bool, is_draft: bool) -> Self {
        match (is_paused, is_draft) {
            (true, _) => Self::Paused,
            (false, true) => Self::Draft,
            (false, false) => Self::Healthy,
        }
    }
}

/// An app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct App {
    /// Id of the app.
    pub id: AppId,
    /// Workspace that the app belongs to.
    pub workspace: WorkspaceId,
    /// Name in URLs; unique over all workspaces, deleted apps included.
    pub slug: String,
    /// Display name; 2 to 60 characters.
    pub name: String,
    /// Purpose of the app; at most 280 characters.
    pub description: String,
    /// Building that the console draws for it; 2 to 32 lower-case ASCII letters.
    pub archetype: String,
    /// Subject, from the current version's manifest where there is one.
    pub category: Category,
    /// Sharing inside the workspace.
    pub sharing: Sharing,
    /// True if an editor paused the app.
    pub is_paused: bool,
    /// True while it belongs to an import that nobody has turned on.
    pub is_in_review: bool,
    /// Version that runs and requests use; none for a draft.
    pub current_version: Option<VersionId>,
    /// Person who created the app.
    pub created_by: UserId,
    /// Time of creation.
    pub created_at: Timestamp,
}

impl App {
    /// Returns the state of the app: paused before draft before healthy.
    #[must_use]
    pub fn status(&self) -> AppStatus {
        AppStatus::of(self.is_paused, self.is_in_review || self.current_version.is_none())
    }

    /// Returns what [`authorize_app`](kernel::authority::authorize_app) decides by, for a person with these grants.
    #[must_use]
    pub fn to_fact(&self, granted: AppRights) -> AppFact {
        AppFact {
            app: self.id,
            workspace: self.workspace,
            created_by: self.created_by,
            sharing: self.sharing,
            granted,
        }
    }
}
