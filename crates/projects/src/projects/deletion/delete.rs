//! Deleting a project.

use kernel::Context;
use serde_json::json;

use crate::{
    InvalidInput, ProjectError, ProjectsTx,
    access::{Own, ProjectRight},
};

/// Deletes a project. `confirm_name` is its name, which the caller types to confirm; surrounding white space is ignored.
///
/// # Errors
/// * [`ProjectError::ProjectNotFound`] when it was deleted before
/// * [`ProjectError::InvalidInput`] when the name is not that of the project
/// * [`ProjectError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn delete_project(
    tx: &mut dyn ProjectsTx,
    ctx: &Context,
    right: &ProjectRight<Own>,
    confirm_name: &str,
) -> Result<(), ProjectError> {
    let member = right.member();
    let found = tx.project_for_update(member.workspace(), right.project()).await?;
    let project = found.ok_or(ProjectError::ProjectNotFound)?;
    if confirm_name.trim() != project.name {
        return Err(InvalidInput::ConfirmationName.into());
    }
    tx.mark_project_deleted(project.workspace, project.id, ctx.now, member.user()).await?;
    let entry = ctx.audit_entry("project.delete").workspace(project.workspace).target(project.id);
    tx.audit(entry.detail(json!({ "name": project.name })));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::testing::{at, id};

    use super::*;
    use crate::testing::{FakeTx, assert_audited, context_at, creator_id, owner_of, project};

    async fn delete(tx: &mut FakeTx, number: u128, confirm_name: &str) -> Result<(), ProjectError> {
        let ctx = context_at(1_000);
        delete_project(tx, &ctx, &owner_of(&ctx, &project(number)), confirm_name).await
    }

    #[tokio::test]
    async fn a_confirmed_deletion_happens_once() {
        let mut tx = FakeTx { projects: vec![project(7), project(8)], ..FakeTx::default() };
        delete(&mut tx, 7, " Shop ").await.unwrap();
        assert_eq!(tx.projects, [project(8)]);
        assert_eq!(tx.deleted, [(project(7), at(1_000), creator_id())]);
        assert_audited(&tx.work, "project.delete", project(7).id, Some(&json!({ "name": "Shop" })));
        let again = delete(&mut tx, 7, "Shop").await;
        assert!(matches!(again, Err(ProjectError::ProjectNotFound)), "{again:?}");
        assert_eq!(tx.work.audit.len(), 1);
    }

    #[tokio::test]
    async fn another_name_or_a_project_of_another_workspace_deletes_nothing() {
        let mut tx = FakeTx::with_project(&project(7));
        for name in ["shop", "", "Shop 2"] {
            let refused = delete(&mut tx, 7, name).await;
            let is_name = matches!(refused, Err(ProjectError::InvalidInput(InvalidInput::ConfirmationName)));
            assert!(is_name, "{refused:?}");
        }
        tx.projects[0].workspace = id(9);
        let refused = delete(&mut tx, 7, "Shop").await;
        assert!(matches!(refused, Err(ProjectError::ProjectNotFound)), "{refused:?}");
        assert!(tx.deleted.is_empty() && tx.work.audit.is_empty());
    }
}
