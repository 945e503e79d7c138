//! Making a person an owner, by an operator.

use kernel::{
    Context, StoreError,
    authority::Role,
    id::{UserId, WorkspaceId},
};

use crate::WorkspaceTx;

/// Makes a person an owner of an existing workspace, without an end of access.
///
/// # Errors
/// A failure of the store.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn make_owner(
    tx: &mut dyn WorkspaceTx,
    ctx: &Context,
    workspace: WorkspaceId,
    user: UserId,
) -> Result<(), StoreError> {
    tx.upsert_member(workspace, user, Role::Owner, ctx.now).await?;
    tx.audit(ctx.audit_entry("member.make_owner").workspace(workspace).target(user));
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::{Caller, testing::at};
    use serde_json::Value;

    use super::*;
    use crate::{
        members::Membership,
        testing::{FakeTx, acme, stranger, viewer},
    };

    #[tokio::test]
    async fn a_stranger_and_a_member_become_owners_without_an_end_of_access() {
        let ctx = kernel::testing::context(Caller::System("admin"), at(5));
        for (user, joined_at) in [(stranger(), at(5)), (viewer(), at(-1_000))] {
            let mut tx = FakeTx::acme();
            tx.edit(viewer(), |membership| membership.access_ends_at = Some(at(1)));
            make_owner(&mut tx, &ctx, acme(), user).await.unwrap();
            let expected = Membership { user, role: Role::Owner, joined_at, access_ends_at: None };
            assert_eq!(tx.membership(user), Some(&expected));
            assert_eq!(tx.audited(), [("member.make_owner", user.to_string(), Value::Null)]);
            assert_eq!(tx.work.audit[0].actor, kernel::Actor::System("admin".into()));
        }
    }
}
