//! Restoring a deleted project.

use kernel::{Context, deletion::RESTORE_PERIOD};

use crate::{
    ProjectError, ProjectsTx,
    access::{Own, ProjectRight},
    projects::Project,
};

/// Restores a project that was deleted less than [`RESTORE_PERIOD`] ago, with its keys.
///
/// # Errors
/// * [`ProjectError::ProjectNotDeleted`] when it is not deleted
/// * [`ProjectError::ProjectNotFound`] when it is too late
/// * [`ProjectError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn undelete_project(
    tx: &mut dyn ProjectsTx,
    ctx: &Context,
    right: &ProjectRight<Own>,
) -> Result<Project, ProjectError> {
    let workspace = right.member().workspace();
    let Some((project, deleted_at)) = tx.deleted_project_for_update(workspace, right.project()).await? else {
        return Err(match tx.project_for_update(workspace, right.project()).await? {
            Some(_) => ProjectError::ProjectNotDeleted,
            None => ProjectError::ProjectNotFound,
        });
    };
    if deleted_at + RESTORE_PERIOD <= ctx.now {
        return Err(ProjectError::ProjectNotFound);
    }
    tx.unmark_project_deleted(workspace, project.id).await?;
    tx.audit(ctx.audit_entry("project.undelete").workspace(workspace).target(project.id));
    Ok(project)
}

#[cfg(test)]
mod tests {
    use kernel::testing::at;

    use super::*;
    use crate::testing::{FakeTx, assert_audited, context_at, creator_id, owner_of, project};

    const WEEK_MS: i64 = 7 * 86_400_000;

    fn deleted() -> FakeTx {
        FakeTx { deleted: vec![(project(7), at(0), creator_id())], ..FakeTx::default() }
    }

    async fn undelete(tx: &mut FakeTx, millis: i64) -> Result<Project, ProjectError> {
        let ctx = context_at(millis);
        undelete_project(tx, &ctx, &owner_of(&ctx, &project(7))).await
    }

    #[tokio::test]
    async fn a_project_is_restored_once_within_a_week() {
        let mut tx = deleted();
        assert_eq!(undelete(&mut tx, WEEK_MS - 1).await.unwrap(), project(7));
        assert_eq!((&tx.projects[..], tx.deleted.len()), (&[project(7)][..], 0));
        assert_audited(&tx.work, "project.undelete", project(7).id, None);
        let again = undelete(&mut tx, 1).await;
        assert!(matches!(again, Err(ProjectError::ProjectNotDeleted)), "{again:?}");
    }

    #[tokio::test]
    async fn a_project_that_is_too_old_or_unknown_is_not_found() {
        let late = undelete(&mut deleted(), WEEK_MS).await;
        assert!(matches!(late, Err(ProjectError::ProjectNotFound)), "{late:?}");
        let unknown = undelete(&mut FakeTx::default(), 1).await;
        assert!(matches!(unknown, Err(ProjectError::ProjectNotFound)), "{unknown:?}");
    }
}
