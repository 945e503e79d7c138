//! Revoking a key.

use kernel::{Context, id::ProjectKeyId};
use serde_json::json;

use super::ProjectKey;
use crate::{
    ProjectError, ProjectsTx,
    access::{Own, ProjectRight},
};

/// Revokes a key at once. A key that is revoked already keeps its time of revocation.
///
/// # Errors
/// * [`ProjectError::KeyNotFound`] when the project has no such key
/// * [`ProjectError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
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
            .owner(right.project_creator())
            .detail(json!({ "project": key.project, "hint": key.hint.to_string() })),
    );
    Ok(key)
}

#[cfg(test)]
mod tests {
    use kernel::testing::{at, id};

    use super::*;
    use crate::{
        keys::{CreateKey, KeyKind, create_key},
        testing::{FakeTx, assert_audited, context_at, owner_of, peppers, project},
    };

    /// Two projects, the first of which has one key.
    async fn store() -> (FakeTx, ProjectKey) {
        let mut tx = FakeTx { projects: vec![project(7), project(8)], ..FakeTx::default() };
        let ctx = context_at(0);
        let input =
            CreateKey { kind: KeyKind::Secret, name: "Server".to_owned(), scopes: None, tables: None };
        let right = owner_of(&ctx, &project(7));
        let key = create_key(&mut tx, &ctx, &right, &peppers(), input).await.unwrap().key;
        tx.work.audit.clear();
        (tx, key)
    }

    async fn revoke(
        tx: &mut FakeTx,
        of: u128,
        key: ProjectKeyId,
        at: i64,
    ) -> Result<ProjectKey, ProjectError> {
        let ctx = context_at(at);
        revoke_key(tx, &ctx, &owner_of(&ctx, &project(of)), key).await
    }

    #[tokio::test]
    async fn a_revoked_key_is_audited_by_its_hint() {
        let (mut tx, key) = store().await;
        let revoked = revoke(&mut tx, 7, key.id, 1_000).await.unwrap();
        assert_eq!(revoked, ProjectKey { revoked_at: Some(at(1_000)), ..key.clone() });
        assert_eq!(tx.keys[0].0, revoked);
        let detail = json!({ "project": key.project, "hint": key.hint.to_string() });
        assert_audited(&tx.work, "project_key.revoke", key.id, Some(&detail));
    }

    #[tokio::test]
    async fn revoking_twice_keeps_the_first_time() {
        let (mut tx, key) = store().await;
        revoke(&mut tx, 7, key.id, 1_000).await.unwrap();
        let again = revoke(&mut tx, 7, key.id, 2_000).await.unwrap();
        assert_eq!(again.revoked_at, Some(at(1_000)));
        assert_eq!(tx.work.audited_actions(), ["project_key.revoke", "project_key.revoke"]);
    }

    #[tokio::test]
    async fn a_key_of_another_project_is_not_found() {
        let (mut tx, key) = store().await;
        for (project, key) in [(7, id(404)), (8, key.id), (9, key.id)] {
            let refused = revoke(&mut tx, project, key, 1_000).await;
            assert!(matches!(refused, Err(ProjectError::KeyNotFound)), "{project}: {refused:?}");
        }
        assert_eq!(tx.keys[0].0.revoked_at, None);
        assert!(tx.work.audit.is_empty());
    }
}
