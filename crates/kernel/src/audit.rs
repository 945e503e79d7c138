//! The audit entry that every change leaves, written in the same transaction.

use std::{borrow::Cow, fmt, net::IpAddr};

use serde::{Deserialize, Serialize};

use crate::{
    Actor, Timestamp,
    changes::Audience,
    id::{AppId, AuditId, RequestId, UserId, WorkspaceId},
};

/// An entry of the audit log. It never holds a secret; of a token, at most its [hint](crate::token::TokenHint).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// The id of the entry.
    pub id: AuditId,
    /// Time of the request that made the change.
    pub at: Timestamp,
    /// The workspace, if the change belongs to one.
    pub workspace: Option<WorkspaceId>,
    /// Author of the change.
    pub actor: Actor,
    /// The change, as `noun.verb`.
    pub action: Cow<'static, str>,
    /// The changed object.
    pub target: Option<AuditTarget>,
    /// The request that made the change.
    pub request: RequestId,
    /// IP address of the client; `None` when no client is involved or its address is unknown.
    pub address: Option<IpAddr>,
    /// Details of the change.
    pub detail: Option<serde_json::Value>,
    /// The app that the changed object belongs to.
    #[serde(skip)]
    pub app: Option<AppId>,
    /// The person whose own object was changed. Only [`AuditEntry::events`] reads it.
    #[serde(skip)]
    pub owner: Option<UserId>,
    /// Those who can no longer see the object. Only [`AuditEntry::events`] reads it.
    #[serde(skip)]
    pub former_viewers: Vec<Audience>,
}

/// The changed object of an audit entry, in most cases the text of its id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditTarget(pub String);

impl AuditEntry {
    /// Sets the workspace.
    #[must_use]
    pub fn workspace(mut self, workspace: WorkspaceId) -> Self {
        self.workspace = Some(workspace);
        self
    }

    /// Sets another actor than the caller, such as the person who is signing in.
    #[must_use]
    pub fn actor(mut self, actor: Actor) -> Self {
        self.actor = actor;
        self
    }

    /// Sets the changed object. The prefix of a typed id tells its kind.
    #[must_use]
    pub fn target(mut self, target: impl fmt::Display) -> Self {
        self.target = Some(AuditTarget(target.to_string()));
        self
    }

    /// Sets the details, which must not hold secrets.
    #[must_use]
    pub fn detail(mut self, detail: serde_json::Value) -> Self {
        self.detail = Some(detail);
        self
    }

    /// Sets the app that the changed object belongs to: those who can view it hear of the change.
    #[must_use]
    pub fn app(mut self, app: AppId) -> Self {
        self.app = Some(app);
        self
    }

    /// Returns the app that was changed, or that the changed object belongs to.
    #[must_use]
    pub fn changed_app(&self) -> Option<AppId> {
        self.app.or_else(|| self.target.as_ref()?.0.parse().ok())
    }

    /// Sets the person whose own object was changed, such as a token; default: the actor's person.
    #[must_use]
    pub fn owner(mut self, owner: UserId) -> Self {
        self.owner = Some(owner);
        self
    }

    /// Sets those who could see the object before the change and cannot any more: they hear of this change only.
    #[must_use]
    pub fn former_viewers(mut self, viewers: Vec<Audience>) -> Self {
        self.former_viewers = viewers;
        self
    }
}
