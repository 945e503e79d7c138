//! Apps.

mod create;
mod delete;
mod update;

use std::str::FromStr;

use kernel::{
    Problem, Timestamp,
    authority::{AppFact, AppRights, Sharing},
    id::{AppId, UserId, VersionId, WorkspaceId},
};
use serde::{Deserialize, Serialize};

pub use create::{CreateApp, create_app};
pub use delete::delete_app;
pub use update::{UpdateApp, update_app};

/// What an app is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Category {
    /// Pages people use.
    Interface,
    /// Keeping data.
    Data,
    /// Talking to people.
    Messaging,
    /// Payments and invoices.
    Money,
    /// Models.
    Ai,
    /// Schedules.
    Time,
    /// Customers and colleagues.
    People,
    /// Marketing and sales.
    Growth,
}

impl Category {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Interface, "interface"),
        (Self::Data, "data"),
        (Self::Messaging, "messaging"),
        (Self::Money, "money"),
        (Self::Ai, "ai"),
        (Self::Time, "time"),
        (Self::People, "people"),
        (Self::Growth, "growth"),
    ];

    /// The name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(category, _)| *category == self).map_or("", |(_, name)| name)
    }
}

impl FromStr for Category {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let found = Self::ALL.iter().find(|(_, name)| *name == text);
        found
            .map(|(category, _)| *category)
            .ok_or_else(|| Problem::invalid_field("category", "is none we know"))
    }
}

/// How an app is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum AppStatus {
    /// It has no version yet.
    Draft,
    /// A version is being built.
    Building,
    /// It runs.
    Healthy,
    /// Some of its runs fail.
    Warning,
    /// Its runs fail.
    Failing,
    /// Somebody switched it off.
    Paused,
}

/// An app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct App {
    /// The app's id.
    pub id: AppId,
    /// The workspace it stands in.
    pub workspace: WorkspaceId,
    /// Its name in addresses, unique over all workspaces.
    pub slug: String,
    /// Its name, 2 to 60 characters.
    pub name: String,
    /// What it is for, at most 280 characters.
    pub description: String,
    /// The building it is drawn as.
    pub archetype: String,
    /// What it is about.
    pub category: Category,
    /// How far it is shared.
    pub sharing: Sharing,
    /// Whether somebody switched it off.
    pub is_paused: bool,
    /// The version that runs.
    pub current_version: Option<VersionId>,
    /// Who made it.
    pub created_by: UserId,
    /// When it was made.
    pub created_at: Timestamp,
}

impl App {
    /// How it is doing.
    #[must_use]
    pub fn status(&self) -> AppStatus {
        match (self.is_paused, self.current_version) {
            (true, _) => AppStatus::Paused,
            (false, None) => AppStatus::Draft,
            (false, Some(_)) => AppStatus::Healthy,
        }
    }

    /// What decides a person's rights on it.
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
