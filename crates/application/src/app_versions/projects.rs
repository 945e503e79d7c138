//! Backend projects in the manifest of a version.

use apps::{
    Manifest,
    manifest::{DataAccess, DataPermission},
};
use kernel::{Context, id::WorkspaceId};

use crate::{Application, Problem, ProblemKind};

/// Checks that the manifest names only projects of the app's workspace, with no more access than its editor has: code
/// acts on behalf of the person who wrote it. Access that the current version already has stays.
///
/// # Errors
/// [`Problem`] that names the first permission that is refused, or if the store fails.
pub async fn check_projects(
    app: &Application,
    ctx: &Context,
    workspace: WorkspaceId,
    manifest: &Manifest,
    granted: &[DataPermission],
) -> Result<(), Problem> {
    for (index, data) in manifest.permissions.data.iter().enumerate() {
        let refuse = |what: &str| {
            let path = format!("manifest.permissions.data[{index}]");
            Err(Problem::invalid_field(&path, what))
        };
        if granted.contains(data) {
            continue;
        }
        match app.project(ctx, &data.project_id.to_string()).await {
            Ok(access) if access.member().workspace() != workspace => {
                return refuse("is not a project of this workspace that you can see");
            }
            Ok(access) if data.access == DataAccess::Write && !access.can_edit() => {
                return refuse("requests write access to a project that you may only view");
            }
            Ok(_) => {}
            Err(problem) if problem.kind == ProblemKind::NotFound => {
                return refuse("is not a project of this workspace that you can see");
            }
            Err(problem) => return Err(problem),
        }
    }
    Ok(())
}
