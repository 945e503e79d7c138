//! Imports: exports that became apps, until a person turns them on or discards them.

mod create;
mod discard;
mod enable;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp, UnitOfWork,
    id::{AppId, AutomationId, ImportId, UserId, WorkspaceId},
    page::PageRequest,
};
use serde::{Deserialize, Serialize};

use crate::{Analysis, HeaderNeed, Report, report::ReportConnection};

pub use create::{NewImport, create_import};
pub use discard::discard_import;
pub use enable::{Choices, check_choices, enable_import};

/// Most imports of a workspace that wait for a decision.
pub const MAX_IN_REVIEW: u64 = 50;

/// The state of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ImportStatus {
    /// Its automation is paused until a person turns it on.
    Review,
    /// Its automation was turned on.
    Enabled,
    /// Its app was removed.
    Discarded,
}

kernel::names! {
    ImportStatus {
        Review = "review",
        Enabled = "enabled",
        Discarded = "discarded",
    }
}

/// Needs of an import that is turned on, beside the report.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ImportNeeds {
    /// Hosts that the app calls without a connection, with the methods.
    pub hosts: BTreeMap<String, BTreeSet<String>>,
    /// Headers with credentials that steps set themselves; none in imports of earlier releases.
    #[serde(default)]
    pub headers: Vec<HeaderNeed>,
    /// Methods that the app needs of each connection, by its key.
    pub methods: BTreeMap<String, BTreeSet<String>>,
    /// Items that each item leads to.
    pub followers: BTreeMap<String, Vec<String>>,
}

impl ImportNeeds {
    /// Returns the needs of an analysed export.
    #[must_use]
    pub fn of(analysis: &Analysis) -> Self {
        Self {
            hosts: analysis.hosts.clone(),
            headers: analysis.headers.clone(),
            methods: analysis.methods.clone(),
            followers: analysis.followers.clone(),
        }
    }
}

/// An import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// Id.
    pub id: ImportId,
    /// Workspace.
    pub workspace: WorkspaceId,
    /// Name of the app that it became; 2 to 60 characters.
    pub name: String,
    /// State.
    pub status: ImportStatus,
    /// App, until it is discarded or deleted.
    pub app: Option<AppId>,
    /// Automation of the app, until it is deleted.
    pub automation: Option<AutomationId>,
    /// Report on the export, as it was when the import was created.
    pub report: Report,
    /// Needs when it is turned on.
    pub needs: ImportNeeds,
    /// Person who made it.
    pub created_by: UserId,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Time of the last change of its state.
    pub changed_at: Timestamp,
}

impl Import {
    /// Returns the connections of which a step is not skipped.
    pub fn connections_without<'a>(
        &'a self,
        skip: &'a BTreeSet<String>,
    ) -> impl Iterator<Item = &'a ReportConnection> {
        let is_needed =
            |connection: &&ReportConnection| connection.steps.iter().any(|step| !skip.contains(step));
        self.report.connections.iter().filter(is_needed)
    }
}

/// Reads of imports.
#[async_trait]
pub trait ImportsRead: Send + Sync {
    /// Returns an import.
    async fn import(&self, id: ImportId) -> Result<Option<Import>, StoreError>;

    /// Lists the imports of a workspace, newest first: all, or those that a person made; up to one more than the limit.
    async fn imports(
        &self,
        workspace: WorkspaceId,
        maker: Option<UserId>,
        page: PageRequest,
    ) -> Result<Vec<Import>, StoreError>;
}

/// Writes of imports.
#[async_trait]
pub trait ImportsTx: UnitOfWork {
    /// Counts the imports of a workspace that are in review.
    async fn count_imports_in_review(&mut self, workspace: WorkspaceId) -> Result<u64, StoreError>;

    /// Adds an import.
    async fn insert_import(&mut self, import: &Import) -> Result<(), StoreError>;

    /// Returns an import, locked until the transaction ends.
    async fn import_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: ImportId,
    ) -> Result<Option<Import>, StoreError>;

    /// Updates the state, the app, the automation and the report of an import.
    async fn update_import(&mut self, import: &Import) -> Result<(), StoreError>;
}

/// A refusal or failure of a use case.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// There is no such import.
    #[error("there is no such import")]
    NotFound,
    /// The import is not in review any more.
    #[error("the import is not in review")]
    NotInReview(ImportStatus),
    /// The automation that it would start is gone.
    #[error("the automation of the import is gone")]
    AutomationMissing,
    /// Too many imports wait for a decision.
    #[error("too many imports are in review")]
    TooMany,
    /// These keys have no connection.
    #[error("connections are missing")]
    BindingMissing(Vec<String>),
    /// The report has no connection of this key.
    #[error("the report has no such connection")]
    UnknownBinding(String),
    /// The report has no item of this id.
    #[error("the report has no such item")]
    UnknownItem(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
