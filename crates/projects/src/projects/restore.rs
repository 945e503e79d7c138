//! Restoring a project from an export. Only the operator's command line does it; there is no route.

use kernel::{
    Context,
    id::{ProjectId, UserId, WorkspaceId},
};

use super::{Project, Settings, new_slug};
use crate::{ProjectError, ProjectsTx};

/// Fields of a restored project.
#[derive(Debug, Clone)]
pub struct RestoreProject {
    /// New id of the project. The caller chooses it, since the row store prepares the project's tables before this
    /// record exists.
    pub id: ProjectId,
    /// Workspace that the project will belong to.
    pub workspace: WorkspaceId,
    /// Member of the workspace who becomes its creator.
    pub created_by: UserId,
    /// Display name.
    pub name: String,
    /// Purpose.
    pub description: String,
    /// Number of the shard that holds its rows.
    pub shard: u16,
    /// Settings of its data API.
    pub settings: Settings,
}

/// Creates the record of a restored project. Its keys are not restored.
///
/// # Errors
/// [`ProjectError::Store`] with [`StoreError::Duplicate`](kernel::StoreError::Duplicate) when another project took the
/// same random slug, and when the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn restore_project(
    tx: &mut dyn ProjectsTx,
    ctx: &Context,
    input: RestoreProject,
) -> Result<Project, ProjectError> {
    let RestoreProject { id, workspace, created_by, name, description, shard, settings } = input;
    let project = Project {
        id,
        workspace,
        slug: new_slug(ctx, &name),
        name,
        description,
        shard,
        settings,
        created_by,
        created_at: ctx.now,
    };
    tx.insert_project(&project).await?;
    tx.audit(ctx.audit_entry("project.restore").workspace(workspace).target(id));
    Ok(project)
}

#[cfg(test)]
mod tests {
    use kernel::{
        Caller, StoreError,
        testing::{at, context, id},
    };

    use super::*;
    use crate::testing::{FakeTx, creator_id, workspace};

    fn operator() -> Context {
        context(Caller::System("rows"), at(1_000))
    }

    fn exported() -> RestoreProject {
        RestoreProject {
            id: id(7),
            workspace: workspace(),
            created_by: creator_id(),
            name: "My Shop".to_owned(),
            description: "Sells things.".to_owned(),
            shard: 4,
            settings: Settings { max_body_kb: 64, ..Settings::default() },
        }
    }

    #[tokio::test]
    async fn a_restored_project_keeps_its_settings_and_is_created_anew() {
        let (ctx, mut tx) = (operator(), FakeTx::default());
        let restored = restore_project(&mut tx, &ctx, exported()).await.unwrap();

        assert!(restored.slug.starts_with("my-shop-"), "{}", restored.slug);
        let expected = Project {
            id: id(7),
            workspace: workspace(),
            name: "My Shop".to_owned(),
            slug: restored.slug.clone(),
            description: "Sells things.".to_owned(),
            shard: 4,
            settings: exported().settings,
            created_by: creator_id(),
            created_at: ctx.now,
        };
        assert_eq!(restored, expected);
        assert_eq!(tx.projects, [expected]);
        assert!(tx.keys.is_empty(), "keys are never restored");
        let [entry] = &tx.work.audit[..] else { panic!("{:?}", tx.work.audit) };
        assert_eq!(
            (&*entry.action, &entry.actor),
            ("project.restore", &kernel::Actor::System("rows".into()))
        );
        assert_eq!((entry.workspace, &entry.detail), (Some(workspace()), &None));
        assert_eq!(entry.target, Some(kernel::AuditTarget(restored.id.to_string())));
    }

    #[tokio::test]
    async fn a_taken_slug_is_a_conflict() {
        let mut tx = FakeTx::default();
        // Both contexts draw the same random suffix.
        restore_project(&mut tx, &operator(), exported()).await.unwrap();
        let refused = restore_project(&mut tx, &operator(), exported()).await;
        assert!(matches!(refused, Err(ProjectError::Store(StoreError::Duplicate))), "{refused:?}");
        assert_eq!((tx.projects.len(), tx.work.audit.len()), (1, 1));
    }
}
