//! Drafts on the wire.

use std::collections::BTreeMap;

use application::{Problem, Tx};
use apps::drafts::Draft;
use chrono::{DateTime, Utc};
use kernel::{
    authority::{AppRight, CanEdit},
    id::{AppId, VersionId},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::conditional::Representation;

/// A person's draft of an app.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Draft)]
pub(crate) struct DraftView {
    app_id: AppId,
    /// Version that the draft was begun from.
    #[schema(required)]
    base_version_id: Option<VersionId>,
    /// Source text by path.
    files: BTreeMap<String, String>,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    saved_at: DateTime<Utc>,
    /// Time at which the draft is deleted, seven days after it was saved.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    expires_at: DateTime<Utc>,
}

impl Representation for DraftView {}

impl DraftView {
    /// Reads the caller's draft, locked until the transaction ends.
    pub(super) async fn locked(
        tx: &mut dyn Tx,
        right: &AppRight<CanEdit>,
        now: DateTime<Utc>,
    ) -> Result<Option<Self>, Problem> {
        let member = right.member();
        let found = tx.draft_for_update(member.workspace(), right.app(), member.user()).await?;
        Ok(found.filter(|draft| draft.expires_at > now).map(Self::from))
    }
}

impl From<Draft> for DraftView {
    fn from(draft: Draft) -> Self {
        Self {
            app_id: draft.app,
            base_version_id: draft.base,
            files: draft.files,
            saved_at: draft.saved_at,
            expires_at: draft.expires_at,
        }
    }
}
