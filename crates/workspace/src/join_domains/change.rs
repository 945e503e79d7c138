//! Changing how people join by a domain.

use kernel::{Context, authority::Admin};

use super::{JoinDomain, JoinDomainsTx, JoinRole};
use crate::{WorkspaceError, members::lock_as_admin};

/// The fields to change; `None` leaves a field as it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct JoinDomainChange {
    /// True if people join when they sign in.
    pub auto_join: Option<bool>,
    /// The role that people get.
    pub role: Option<JoinRole>,
}

/// Changes how people join by the domain.
///
/// # Errors
/// [`WorkspaceError::DomainNotVerified`] when the workspace has no verified domain;
/// [`WorkspaceError::WorkspaceNotFound`] and [`WorkspaceError::AdminOnly`] when the caller has lost the membership or the
/// role; a failure of the store.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn change_join_domain(
    tx: &mut dyn JoinDomainsTx,
    ctx: &Context,
    admin: &Admin,
    change: JoinDomainChange,
) -> Result<JoinDomain, WorkspaceError> {
    lock_as_admin(tx, ctx, admin).await?;
    let workspace = admin.workspace();
    let before = tx.join_domain_of(workspace).await?.filter(JoinDomain::is_verified);
    let before = before.ok_or(WorkspaceError::DomainNotVerified)?;
    let after = JoinDomain {
        auto_join: change.auto_join.unwrap_or(before.auto_join),
        role: change.role.unwrap_or(before.role),
        ..before.clone()
    };
    if after != before {
        tx.upsert_join_domain(&after).await?;
        let detail = serde_json::json!({ "autoJoin": after.auto_join, "role": after.role });
        tx.audit(ctx.audit_entry("join_domain.change").workspace(workspace).target(workspace).detail(detail));
    }
    Ok(after)
}

#[cfg(test)]
mod tests {
    use kernel::{authority::Role, testing::at};
    use serde_json::json;

    use super::*;
    use crate::{
        join_domains::DomainState,
        testing::{FakeTx, VERIFIED, acme, admin, as_admin, request_of},
    };

    #[tokio::test]
    async fn only_the_given_fields_change_and_the_change_is_audited() {
        let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
        let before = tx.add_join_domain(VERIFIED);
        let change = JoinDomainChange { auto_join: None, role: Some(JoinRole::Viewer) };
        let changed = change_join_domain(&mut tx, &ctx, &as_admin(&ctx), change).await.unwrap();
        let expected = JoinDomain { role: JoinRole::Viewer, ..before };
        assert_eq!((tx.join_domains.get(&acme()), &changed), (Some(&expected), &expected));
        let change = JoinDomainChange { auto_join: Some(false), role: None };
        let changed = change_join_domain(&mut tx, &ctx, &as_admin(&ctx), change).await.unwrap();
        assert_eq!((changed.auto_join, changed.role), (false, JoinRole::Viewer));
        let expected = [true, false].map(|auto_join| {
            let detail = json!({ "autoJoin": auto_join, "role": "viewer" });
            ("join_domain.change", acme().to_string(), detail)
        });
        assert_eq!(tx.audited(), expected);
    }

    #[tokio::test]
    async fn a_change_to_what_already_is_leaves_no_trace() {
        let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
        let before = tx.add_join_domain(VERIFIED);
        let same = JoinDomainChange { auto_join: Some(true), role: Some(JoinRole::Member) };
        for change in [JoinDomainChange::default(), same] {
            let unchanged = change_join_domain(&mut tx, &ctx, &as_admin(&ctx), change).await.unwrap();
            assert_eq!(unchanged, before);
        }
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn a_domain_that_is_missing_or_unverified_is_not_changed() {
        let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
        let change = JoinDomainChange { auto_join: Some(false), role: None };
        let refused = change_join_domain(&mut tx, &ctx, &as_admin(&ctx), change).await;
        assert!(matches!(refused, Err(WorkspaceError::DomainNotVerified)), "{refused:?}");
        let pending = tx.add_join_domain(DomainState::Pending);
        let refused = change_join_domain(&mut tx, &ctx, &as_admin(&ctx), change).await;
        assert!(matches!(refused, Err(WorkspaceError::DomainNotVerified)), "{refused:?}");
        assert_eq!(tx.join_domains.get(&acme()), Some(&pending));
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn what_changed_before_the_lock_counts() {
        let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
        tx.add_join_domain(VERIFIED);
        let change = JoinDomainChange { auto_join: Some(false), role: None };
        tx.while_waiting(|tx| drop(tx.add_join_domain(DomainState::Pending)));
        let refused = change_join_domain(&mut tx, &ctx, &as_admin(&ctx), change).await;
        assert!(matches!(refused, Err(WorkspaceError::DomainNotVerified)), "{refused:?}");
        tx.while_waiting(|tx| tx.edit(admin(), |membership| membership.access_ends_at = Some(at(0))));
        let refused = change_join_domain(&mut tx, &ctx, &as_admin(&ctx), change).await;
        assert!(matches!(refused, Err(WorkspaceError::WorkspaceNotFound)), "{refused:?}");
        tx.edit(admin(), |membership| {
            membership.role = Role::Builder;
            membership.access_ends_at = None;
        });
        let refused = change_join_domain(&mut tx, &ctx, &as_admin(&ctx), change).await;
        assert!(matches!(refused, Err(WorkspaceError::AdminOnly)), "{refused:?}");
        tx.assert_nothing_recorded();
    }
}
