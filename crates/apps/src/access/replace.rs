//! Replacing the sharing and the grants of an app.

use std::collections::BTreeSet;

use kernel::{
    Context,
    authority::{AppRight, AppRights, CanShare, Sharing},
    id::UserId,
};

use super::AppGrant;
use crate::{AppError, AppsTx, InvalidInput};

/// Most people that an app can be shared with by name.
const MAX_GRANTS: usize = 500;

/// Replaces how far an app is shared, and every right granted on it.
///
/// # Errors
/// * [`AppError::InvalidInput`] when a person is named twice or without a right, or when there are more
///   than 500
/// * [`AppError::MemberNotFound`] when a person is not a member of the workspace
/// * [`AppError::Store`] when the store fails
#[tracing::instrument(level = "debug", skip_all)]
pub async fn replace_access(
    tx: &mut dyn AppsTx,
    ctx: &Context,
    right: &AppRight<CanShare>,
    sharing: Sharing,
    grants: Vec<AppGrant>,
) -> Result<(), AppError> {
    let workspace = right.member().workspace();
    let users: BTreeSet<UserId> = grants.iter().map(|grant| grant.user).collect();
    if users.len() != grants.len() {
        return Err(InvalidInput::RepeatedGrant.into());
    }
    if grants.len() > MAX_GRANTS {
        return Err(InvalidInput::GrantCount { max: MAX_GRANTS }.into());
    }
    if grants.iter().any(|grant| grant.rights == AppRights::NONE) {
        return Err(InvalidInput::EmptyGrant.into());
    }
    let users: Vec<UserId> = users.into_iter().collect();
    if tx.members_among(workspace, &users).await?.len() != users.len() {
        return Err(AppError::MemberNotFound);
    }
    let previous = tx.replace_access(workspace, right.app(), sharing, &grants).await?;
    let former = previous.map_or_else(Vec::new, |previous| previous.former_viewers(sharing, &users));
    let detail = serde_json::json!({
        "sharing": sharing,
        "people": grants.iter().map(|grant| grant.user.to_string()).collect::<Vec<_>>(),
    });
    let entry = ctx.audit_entry("app.share").workspace(workspace).target(right.app());
    tx.audit(entry.former_viewers(former).detail(detail));
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kernel::{authority::AppRightName, testing::id};
    use serde_json::json;

    use super::*;
    use crate::testing::{FakeTx, assert_audited, builder_context, can_share, draft, workspace};

    const VIEW: [AppRightName; 1] = [AppRightName::CanView];

    fn grant(user: u128, rights: impl IntoIterator<Item = AppRightName>) -> AppGrant {
        AppGrant { user: id(user), rights: rights.into_iter().collect() }
    }

    /// Two apps of which person 10 may view each; 10, 11 and 12 are members.
    fn store() -> FakeTx {
        let (app, other) = (draft(7), draft(8));
        let grants = vec![(app.id, grant(10, VIEW)), (other.id, grant(10, VIEW))];
        let members = [10, 11, 12].map(|user| (workspace(), id(user))).to_vec();
        FakeTx { apps: vec![app, other], grants, members, ..FakeTx::default() }
    }

    #[tokio::test]
    async fn new_grants_take_the_place_of_the_old_ones() {
        let (ctx, mut tx) = (builder_context(), store());
        let app = tx.apps[0].clone();
        let edit = [AppRightName::CanView, AppRightName::CanEdit];
        let grants = vec![grant(12, edit), grant(11, VIEW)];
        replace_access(&mut tx, &ctx, &can_share(&ctx, &app), Sharing::Team, grants).await.unwrap();

        assert_eq!((tx.apps[0].sharing, tx.apps[1].sharing), (Sharing::Team, Sharing::Private));
        let expected = [(id(11), VIEW.into_iter().collect()), (id(12), edit.into_iter().collect())];
        assert_eq!(tx.grants_on(app.id), BTreeMap::from(expected));
        assert_eq!(tx.grants_on(id(8)).len(), 1, "the other app's grants stay");
        let people: [UserId; 2] = [id(12), id(11)];
        let detail = json!({ "sharing": "team", "people": people });
        assert_audited(&tx.work, "app.share", app.id, Some(&detail));
    }

    #[tokio::test]
    async fn nobody_need_be_named() {
        let (ctx, mut tx) = (builder_context(), store());
        let app = tx.apps[0].clone();
        let right = can_share(&ctx, &app);
        replace_access(&mut tx, &ctx, &right, Sharing::Workspace, Vec::new()).await.unwrap();
        assert_eq!(tx.apps[0].sharing, Sharing::Workspace);
        assert!(tx.grants_on(app.id).is_empty());
        assert_audited(&tx.work, "app.share", app.id, Some(&json!({ "sharing": "workspace", "people": [] })));
    }

    #[tokio::test]
    async fn unfit_grants_are_refused_and_change_nothing() {
        let (ctx, mut tx) = (builder_context(), store());
        let app = tx.apps[0].clone();
        let before = tx.grants_on(app.id);
        let too_many: Vec<AppGrant> = (100..601).map(|user| grant(user, VIEW)).collect();
        for (grants, expected) in [
            (vec![grant(10, VIEW), grant(10, VIEW)], InvalidInput::RepeatedGrant),
            (too_many, InvalidInput::GrantCount { max: 500 }),
            (vec![grant(10, [])], InvalidInput::EmptyGrant),
        ] {
            let refused = replace_access(&mut tx, &ctx, &can_share(&ctx, &app), Sharing::Team, grants).await;
            assert!(
                matches!(&refused, Err(AppError::InvalidInput(invalid)) if *invalid == expected),
                "{expected:?}: {refused:?}"
            );
        }
        assert_eq!((tx.apps[0].sharing, tx.grants_on(app.id)), (Sharing::Private, before));
        assert!(tx.work.audit.is_empty());
    }

    #[tokio::test]
    async fn an_app_is_not_shared_with_people_of_another_workspace() {
        let (ctx, mut tx) = (builder_context(), store());
        tx.members.push((id(99), id(50)));
        let app = tx.apps[0].clone();
        let grants = vec![grant(11, VIEW), grant(50, VIEW)];
        let refused = replace_access(&mut tx, &ctx, &can_share(&ctx, &app), Sharing::Team, grants).await;
        assert!(matches!(refused, Err(AppError::MemberNotFound)), "{refused:?}");
        assert_eq!(tx.apps[0].sharing, Sharing::Private);
        assert!(tx.work.audit.is_empty());
    }
}
