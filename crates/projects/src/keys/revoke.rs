//! Revoking a key.

use kernel::{Context, id::ProjectKeyId};
use serde_json::json;

use super::ProjectKey;
use crate::{
    ProjectError, ProjectsTx,
    access::{Own, ProjectRight},
};

/// Revokes a key at once; revoking twice keeps the first moment.
///
/// # Errors
/// [`ProjectError::KeyNotFound`], or what the store says.
pub async fn revoke_key(
    tx: &mut dyn ProjectsTx,
    ctx: &Context,
    right: &ProjectRight<Own>,
    key: ProjectKeyId,
) -> Result<ProjectKey, ProjectError> {
    let workspace = right.member().workspace();
    let revoked = tx.revoke_project_key(workspace, right.project(), key, ctx.now).await?;
    let key = revoked.ok_or(ProjectError::KeyNotFound)?;
    tx.audit(
        ctx.audit_entry("project_key.revoke")
            .workspace(workspace)
            .target(key.id)
            .detail(json!({ "project": key.project, "hint": key.hint.to_string() })),
    );
    Ok(key)
}
