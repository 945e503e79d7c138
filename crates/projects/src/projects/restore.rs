//! Bringing back a project from a copy; a task of whoever runs the machine, and no route.

use kernel::{
    Context,
    id::{ProjectId, UserId, WorkspaceId},
};

use super::{Project, Settings, new_slug};
use crate::{ProjectError, ProjectsTx};

/// What is brought back.
#[derive(Debug, Clone)]
pub struct RestoreProject {
    /// Its new id: the row store makes its place for it before this record stands.
    pub id: ProjectId,
    /// The workspace it is to be of.
    pub workspace: WorkspaceId,
    /// Who counts as its maker, a member of the workspace.
    pub created_by: UserId,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Which store its rows are in.
    pub shard: u16,
    /// What its data API allows.
    pub settings: Settings,
}

/// Makes the record of a project that was brought back.
///
/// # Errors
/// What the store says.
pub async fn restore_project(
    tx: &mut dyn ProjectsTx,
    ctx: &Context,
    input: RestoreProject,
) -> Result<Project, ProjectError> {
    let RestoreProject { id, workspace, created_by: maker, name, description, shard, settings } = input;
    let project = Project {
        id,
        workspace,
        slug: new_slug(ctx, &name),
        name,
        description,
        shard,
        settings,
        created_by: maker,
        created_at: ctx.now,
    };
    tx.insert_project(&project).await?;
    tx.audit(ctx.audit_entry("project.restore").workspace(workspace).target(id));
    Ok(project)
}
