//! Those between whom what all use is shared out.

use uuid::Uuid;

use crate::id::{UserId, WorkspaceId};

/// A person, or a workspace, that has a share of what all use. The default is nobody.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShareId(Uuid);

impl ShareId {
    /// Returns the share of a person if one is known, and that of the workspace otherwise. Anybody may create workspaces, so
    /// those of one person have one share.
    ///
    /// The person is who asks, for checks, imports and analyses, and who created the workspace, for its code: runs, visits and
    /// drafts.
    #[must_use]
    pub fn of(person: Option<UserId>, workspace: WorkspaceId) -> Self {
        Self(person.map_or_else(|| workspace.uuid(), UserId::uuid))
    }

    /// Returns the id of the person or the workspace.
    #[must_use]
    pub fn uuid(self) -> Uuid {
        self.0
    }
}

impl From<UserId> for ShareId {
    fn from(person: UserId) -> Self {
        Self(person.uuid())
    }
}

impl From<WorkspaceId> for ShareId {
    fn from(workspace: WorkspaceId) -> Self {
        Self(workspace.uuid())
    }
}
