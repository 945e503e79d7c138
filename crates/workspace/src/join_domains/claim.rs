//! Claiming a domain.

use kernel::{Context, authority::Admin, slug::SLUG_SUFFIX_ALPHABET};

use super::{Domain, DomainState, JoinDomain, JoinDomainsTx, JoinRole};
use crate::{WorkspaceError, members::lock_as_admin};

/// Claims a domain in place of the workspace's earlier one. Claiming the same domain again changes nothing and keeps the
/// record.
///
/// # Errors
/// [`WorkspaceError::WorkspaceNotFound`] and [`WorkspaceError::AdminOnly`] when the caller has lost the membership or the
/// role; a failure of the store.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn claim_join_domain(
    tx: &mut dyn JoinDomainsTx,
    ctx: &Context,
    admin: &Admin,
    domain: Domain,
) -> Result<JoinDomain, WorkspaceError> {
    lock_as_admin(tx, ctx, admin).await?;
    let workspace = admin.workspace();
    let before = tx.join_domain_of(workspace).await?;
    if let Some(same) = before.filter(|known| known.domain == domain) {
        return Ok(same);
    }
    let claimed = JoinDomain {
        workspace,
        domain,
        // 32 characters of 5 bits each: 160 bits.
        verification_record: format!(
            "qala-domain-verification={}",
            ctx.random().string(SLUG_SUFFIX_ALPHABET, 32)
        ),
        auto_join: false,
        role: JoinRole::Member,
        created_at: ctx.now,
        state: DomainState::Pending,
    };
    tx.upsert_join_domain(&claimed).await?;
    let detail = serde_json::json!({ "domain": claimed.domain.as_str() });
    tx.audit(ctx.audit_entry("join_domain.put").workspace(workspace).target(workspace).detail(detail));
    Ok(claimed)
}

#[cfg(test)]
mod tests {
    use kernel::{authority::Role, testing::at};
    use serde_json::json;

    use super::*;
    use crate::testing::{FakeTx, acme, admin, as_admin, request_of};

    fn domain(name: &str) -> Domain {
        name.parse().unwrap()
    }

    #[tokio::test]
    async fn a_claim_is_pending_with_a_record_of_its_own_and_audited() {
        let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
        let claimed =
            claim_join_domain(&mut tx, &ctx, &as_admin(&ctx), domain("acme.example")).await.unwrap();
        let record = claimed.verification_record.strip_prefix("qala-domain-verification=").unwrap();
        assert_eq!(record.len(), 32);
        let expected = JoinDomain {
            workspace: acme(),
            domain: domain("acme.example"),
            verification_record: claimed.verification_record.clone(),
            auto_join: false,
            role: JoinRole::Member,
            created_at: at(0),
            state: DomainState::Pending,
        };
        assert_eq!((tx.join_domains.get(&acme()), &claimed), (Some(&expected), &expected));
        let detail = json!({ "domain": "acme.example" });
        assert_eq!(tx.audited(), [("join_domain.put", acme().to_string(), detail)]);
    }

    #[tokio::test]
    async fn claiming_the_same_domain_again_changes_nothing() {
        let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
        let verified = DomainState::Verified { at: at(0), recheck_at: at(9), misses: 1 };
        let before = tx.add_join_domain(verified);
        let again = claim_join_domain(&mut tx, &ctx, &as_admin(&ctx), domain("ACME.example")).await.unwrap();
        assert_eq!((tx.join_domains.get(&acme()), &again), (Some(&before), &before));
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn another_domain_takes_the_place_of_the_one_before_with_another_record() {
        let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
        let mut records = Vec::new();
        for name in ["acme.example", "acme.test", "acme.example"] {
            let claimed = claim_join_domain(&mut tx, &ctx, &as_admin(&ctx), domain(name)).await.unwrap();
            assert_eq!(claimed.domain, domain(name));
            assert!(!records.contains(&claimed.verification_record), "{records:?}");
            records.push(claimed.verification_record);
        }
        assert_eq!(tx.join_domains.len(), 1);
        assert_eq!(tx.work.audited_actions(), ["join_domain.put"; 3]);
    }

    #[tokio::test]
    async fn an_admin_who_was_demoted_meanwhile_claims_nothing() {
        let (mut tx, ctx) = (FakeTx::acme(), request_of(admin()));
        tx.while_waiting(|tx| tx.edit(admin(), |membership| membership.role = Role::Builder));
        let refused = claim_join_domain(&mut tx, &ctx, &as_admin(&ctx), domain("acme.example")).await;
        assert!(matches!(refused, Err(WorkspaceError::AdminOnly)), "{refused:?}");
        assert!(tx.join_domains.is_empty());
        tx.assert_nothing_recorded();
    }
}
