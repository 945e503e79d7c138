//! The row that every mutation leaves, written in the same transaction.

use std::{borrow::Cow, fmt, net::IpAddr};

use serde::{Deserialize, Serialize};

use crate::{
    Timestamp,
    id::{AuditId, RequestId, WorkspaceId},
};

/// One row of the audit log. It never holds a secret: prefixes, hints and last four characters only.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// The row.
    pub id: AuditId,
    /// When it happened.
    pub at: Timestamp,
    /// In which workspace, where there is one.
    pub workspace: Option<WorkspaceId>,
    /// Who did it.
    pub actor: String,
    /// What was done, as `noun.verb`.
    pub action: Cow<'static, str>,
    /// What it was done to.
    pub target: Option<AuditTarget>,
    /// The request that did it.
    pub request: RequestId,
    /// Where the request came from.
    pub address: Option<IpAddr>,
    /// What else a reader of the log wants to know.
    pub detail: Option<serde_json::Value>,
}

/// What an audit row is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditTarget(pub String);

impl AuditEntry {
    /// Places the row in a workspace.
    #[must_use]
    pub fn workspace(mut self, workspace: WorkspaceId) -> Self {
        self.workspace = Some(workspace);
        self
    }

    /// Names what was touched; typed ids say by their prefix what they are.
    #[must_use]
    pub fn target(mut self, target: impl fmt::Display) -> Self {
        self.target = Some(AuditTarget(target.to_string()));
        self
    }

    /// Adds details; no secrets.
    #[must_use]
    pub fn detail(mut self, detail: serde_json::Value) -> Self {
        self.detail = Some(detail);
        self
    }
}
