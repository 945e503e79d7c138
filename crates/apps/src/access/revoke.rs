//! Revoking the grants of a person who leaves a workspace.

use kernel::{
    Context, StoreError,
    authority::Role,
    changes::Audience,
    id::{UserId, WorkspaceId},
};

use crate::AppsTx;

/// Revokes every right granted to a person on the apps of a workspace, so that a later membership does not restore it.
/// Apps that they created stay theirs.
///
/// # Errors
/// [`StoreError`] when the store fails.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn revoke_app_grants_of(
    tx: &mut dyn AppsTx,
    ctx: &Context,
    workspace: WorkspaceId,
    user: UserId,
) -> Result<(), StoreError> {
    for app in tx.delete_grants_of(workspace, user).await? {
        let detail = serde_json::json!({ "of": user });
        let former = vec![Audience::Person { user, role: Role::Viewer }];
        let entry = ctx.audit_entry("app.unshare").workspace(workspace).target(app);
        tx.audit(entry.former_viewers(former).detail(detail));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::{authority::AppRights, testing::id};
    use serde_json::json;

    use super::*;
    use crate::{
        App,
        access::AppGrant,
        testing::{FakeTx, assert_audited, builder_context, draft, workspace},
    };

    #[tokio::test]
    async fn only_the_grants_of_this_person_in_this_workspace_are_revoked() {
        let foreign = App { workspace: id(99), ..draft(8) };
        let grant = |user: u128| AppGrant { user: id(user), rights: AppRights::ALL };
        let mut tx = FakeTx {
            apps: vec![draft(7), foreign],
            grants: vec![(id(7), grant(10)), (id(7), grant(11)), (id(8), grant(10))],
            ..FakeTx::default()
        };
        revoke_app_grants_of(&mut tx, &builder_context(), workspace(), id(10)).await.unwrap();
        assert_eq!(tx.grants, [(id(7), grant(11)), (id(8), grant(10))]);
        let revoked_from: UserId = id(10);
        assert_audited(&tx.work, "app.unshare", draft(7).id, Some(&json!({ "of": revoked_from })));
    }

    #[tokio::test]
    async fn each_app_has_an_audit_entry_of_its_own() {
        let grant = AppGrant { user: id(10), rights: AppRights::ALL };
        let mut tx = FakeTx {
            apps: vec![draft(7), draft(8)],
            grants: vec![(id(7), grant.clone()), (id(8), grant)],
            ..FakeTx::default()
        };
        revoke_app_grants_of(&mut tx, &builder_context(), workspace(), id(10)).await.unwrap();
        let targets: Vec<_> = tx.work.audit.iter().filter_map(|entry| entry.target.clone()).collect();
        let expected = [7, 8].map(|app| kernel::AuditTarget(draft(app).id.to_string()));
        assert_eq!(targets, expected);
        assert_eq!(tx.work.audited_actions(), ["app.unshare", "app.unshare"]);
    }

    #[tokio::test]
    async fn a_person_without_grants_leaves_no_audit_entry() {
        let mut tx = FakeTx::with_app(&draft(7));
        revoke_app_grants_of(&mut tx, &builder_context(), workspace(), id(10)).await.unwrap();
        assert!(tx.work.audit.is_empty());
    }
}
