//! Workspaces on the wire.

use application::{Problem, Tx};
use kernel::{Locale, Timestamp, id::WorkspaceId};
use serde::Serialize;
use utoipa::ToSchema;
use workspace::workspaces::{Cell, Currency, Profile, Workspace};

use crate::{
    http::{conditional::Representation, schemas},
    state::Api,
};

/// A workspace.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Workspace)]
pub(crate) struct WorkspaceView {
    id: WorkspaceId,
    slug: String,
    name: String,
    #[schema(value_type = schemas::workspace::Profile)]
    profile: Profile,
    #[schema(value_type = schemas::workspace::Cell)]
    cell: Cell,
    locale: Locale,
    timezone: String,
    /// Cost of an hour of a person's work, in the currency's minor unit.
    hourly_cost_minor: u32,
    #[schema(value_type = schemas::workspace::Currency)]
    currency: Currency,
    member_count: u64,
    /// Bytes of code that it stores: files of versions and drafts, each text once, and imports.
    stored_code_bytes: u64,
    /// Bytes of code that its plan lets it store.
    stored_code_limit_bytes: u64,
}

/// Counts of a workspace, made when it is read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    members: u64,
    stored_code_bytes: u64,
}

impl Counts {
    pub(super) async fn of(api: &Api, workspace: WorkspaceId, now: Timestamp) -> Result<Self, Problem> {
        Ok(Self {
            members: api.store().member_count(workspace, now).await?,
            stored_code_bytes: api.store().stored_code_bytes(workspace).await?,
        })
    }
}

impl Representation for WorkspaceView {
    const COMPUTED: &'static [&'static str] = &["memberCount", "storedCodeBytes", "storedCodeLimitBytes"];
}

impl WorkspaceView {
    /// Returns what is stored of a workspace, locked until the transaction ends.
    ///
    /// # Errors
    /// 404 `workspace_not_found` if it was deleted; a [`Problem`] if the store fails.
    pub(super) async fn locked(tx: &mut dyn Tx, workspace: WorkspaceId) -> Result<Option<Self>, Problem> {
        let found = tx.workspace_for_update(workspace).await?;
        let workspace = found.ok_or_else(|| Problem::not_found("workspace"))?;
        Ok(Some(Self::of(workspace, Counts::default())))
    }

    pub(super) fn of(workspace: Workspace, counts: Counts) -> Self {
        Self {
            id: workspace.id,
            slug: workspace.slug,
            name: workspace.name,
            profile: workspace.profile,
            cell: workspace.profile.cell(),
            locale: workspace.locale,
            timezone: workspace.timezone,
            hourly_cost_minor: workspace.hourly_cost_minor,
            currency: workspace.currency,
            member_count: counts.members,
            stored_code_bytes: counts.stored_code_bytes,
            stored_code_limit_bytes: workspace.plan.limits().stored_code_bytes,
        }
    }
}
