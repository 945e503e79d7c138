//! Workspaces on the wire.

use application::{Problem, Tx};
use kernel::{Locale, id::WorkspaceId};
use serde::Serialize;
use utoipa::ToSchema;
use workspace::workspaces::{Cell, Currency, Profile, Workspace};

use crate::http::{conditional::Representation, schemas};

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
}

impl Representation for WorkspaceView {
    const COMPUTED: &'static [&'static str] = &["memberCount"];
}

impl WorkspaceView {
    /// Returns what is stored of a workspace, locked until the transaction ends.
    ///
    /// # Errors
    /// 404 `workspace_not_found` if it was deleted; a [`Problem`] if the store fails.
    pub(super) async fn locked(tx: &mut dyn Tx, workspace: WorkspaceId) -> Result<Option<Self>, Problem> {
        let found = tx.workspace_for_update(workspace).await?;
        let workspace = found.ok_or_else(|| Problem::not_found("workspace"))?;
        Ok(Some(Self::of(workspace, 0)))
    }

    pub(super) fn of(workspace: Workspace, member_count: u64) -> Self {
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
            member_count,
        }
    }
}
