//! Verifying a domain.

use kernel::{Context, StoreError, authority::Admin};

use super::{DnsCheck, DomainState, JoinDomain, JoinDomainsTx, RECHECK_INTERVAL, dns_check::lock_same_claim};
use crate::{WorkspaceError, members::lock_as_admin};

/// Marks a domain as verified if its record was found, for an admin who asks. The first workspace to verify a domain
/// has it. `looked_up` is the claim as it was before the lookup. Returns the claim, unchanged if the record was not found.
///
/// # Errors
/// * [`WorkspaceError::WorkspaceNotFound`] and [`WorkspaceError::AdminOnly`] when the caller has lost the membership or
///   the role
/// * [`WorkspaceError::JoinDomainNotFound`] when the claim was deleted or replaced since the lookup
/// * [`WorkspaceError::DomainTaken`] when another workspace has verified the domain
/// * [`WorkspaceError::Store`]
#[tracing::instrument(level = "debug", skip_all)]
pub async fn confirm_join_domain(
    tx: &mut dyn JoinDomainsTx,
    ctx: &Context,
    admin: &Admin,
    looked_up: &JoinDomain,
    check: DnsCheck,
) -> Result<JoinDomain, WorkspaceError> {
    lock_as_admin(tx, ctx, admin).await?;
    if looked_up.workspace != admin.workspace() {
        return Err(WorkspaceError::JoinDomainNotFound);
    }
    let known = lock_same_claim(tx, looked_up).await?.ok_or(WorkspaceError::JoinDomainNotFound)?;
    if check != DnsCheck::Found {
        return Ok(known);
    }
    let recheck_at = ctx.now + RECHECK_INTERVAL;
    let state = match known.state {
        DomainState::Verified { at, .. } => DomainState::Verified { at, recheck_at, misses: 0 },
        DomainState::Pending => {
            if tx.verified_join_domain(&known.domain).await?.is_some() {
                return Err(WorkspaceError::DomainTaken);
            }
            DomainState::Verified { at: ctx.now, recheck_at, misses: 0 }
        }
    };
    let verified = JoinDomain { state, ..known };
    // Another workspace may have verified it since the read above.
    tx.upsert_join_domain(&verified).await.map_err(|error| match error {
        StoreError::Duplicate => WorkspaceError::DomainTaken,
        error => error.into(),
    })?;
    let detail = serde_json::json!({ "domain": verified.domain.as_str() });
    let entry =
        ctx.audit_entry("join_domain.verify").workspace(verified.workspace).target(verified.workspace);
    tx.audit(entry.detail(detail));
    Ok(verified)
}

#[cfg(test)]
mod tests {
    use kernel::{authority::Role, testing::at};
    use serde_json::json;

    use super::*;
    use crate::testing::{DAY, FakeTx, acme, admin, as_admin, globex, request_of};

    async fn confirm(
        tx: &mut FakeTx,
        looked_up: &JoinDomain,
        check: DnsCheck,
    ) -> Result<JoinDomain, WorkspaceError> {
        let ctx = request_of(admin());
        confirm_join_domain(tx, &ctx, &as_admin(&ctx), looked_up, check).await
    }

    fn verified(at_millis: i64) -> DomainState {
        DomainState::Verified { at: at(at_millis), recheck_at: at(7 * DAY), misses: 0 }
    }

    #[tokio::test]
    async fn a_record_that_was_found_verifies_the_domain_and_that_is_audited() {
        let mut tx = FakeTx::acme();
        let claimed = tx.add_join_domain(DomainState::Pending);
        let confirmed = confirm(&mut tx, &claimed, DnsCheck::Found).await.unwrap();
        let expected = JoinDomain { state: verified(0), ..claimed };
        assert_eq!((tx.join_domains.get(&acme()), &confirmed), (Some(&expected), &expected));
        let detail = json!({ "domain": "acme.example" });
        assert_eq!(tx.audited(), [("join_domain.verify", acme().to_string(), detail)]);
    }

    #[tokio::test]
    async fn confirming_a_verified_domain_keeps_the_first_time_and_forgets_misses() {
        let mut tx = FakeTx::acme();
        let state = DomainState::Verified { at: at(-5), recheck_at: at(1), misses: 2 };
        let before = tx.add_join_domain(state);
        let confirmed = confirm(&mut tx, &before, DnsCheck::Found).await.unwrap();
        assert_eq!(confirmed.state, verified(-5));
        assert_eq!(tx.join_domains.get(&acme()), Some(&confirmed));
        assert_eq!(tx.work.audited_actions(), ["join_domain.verify"]);
    }

    #[tokio::test]
    async fn a_record_that_was_not_found_leaves_the_claim_as_it_is() {
        let mut tx = FakeTx::acme();
        let state = DomainState::Verified { at: at(-5), recheck_at: at(1), misses: 2 };
        for before in [DomainState::Pending, state] {
            let before = tx.add_join_domain(before);
            for check in [DnsCheck::Missing, DnsCheck::Unreachable] {
                assert_eq!(confirm(&mut tx, &before, check).await.unwrap(), before);
            }
            assert_eq!(tx.join_domains.get(&acme()), Some(&before));
        }
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn a_domain_that_another_workspace_has_verified_is_taken() {
        let mut tx = FakeTx::acme();
        let claimed = tx.add_join_domain(DomainState::Pending);
        let foreign = JoinDomain { workspace: globex(), state: verified(-1), ..claimed.clone() };
        tx.join_domains.insert(globex(), foreign);
        let refused = confirm(&mut tx, &claimed, DnsCheck::Found).await;
        assert!(matches!(refused, Err(WorkspaceError::DomainTaken)), "{refused:?}");

        let mut tx = FakeTx::acme();
        let claimed = tx.add_join_domain(DomainState::Pending);
        tx.verified_concurrently.push(claimed.domain.clone());
        let refused = confirm(&mut tx, &claimed, DnsCheck::Found).await;
        assert!(matches!(refused, Err(WorkspaceError::DomainTaken)), "{refused:?}");
        assert_eq!(tx.join_domains.get(&acme()), Some(&claimed));
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn a_claim_that_changed_since_the_lookup_is_not_confirmed() {
        let mut tx = FakeTx::acme();
        let claimed = tx.add_join_domain(DomainState::Pending);
        let replaced = JoinDomain { verification_record: "another".to_owned(), ..claimed.clone() };
        let foreign = JoinDomain { workspace: globex(), ..claimed.clone() };
        for looked_up in [replaced, foreign] {
            let refused = confirm(&mut tx, &looked_up, DnsCheck::Found).await;
            assert!(matches!(refused, Err(WorkspaceError::JoinDomainNotFound)), "{refused:?}");
        }
        tx.while_waiting(|tx| tx.join_domains.clear());
        let refused = confirm(&mut tx, &claimed, DnsCheck::Found).await;
        assert!(matches!(refused, Err(WorkspaceError::JoinDomainNotFound)), "{refused:?}");
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn an_admin_who_was_demoted_meanwhile_confirms_nothing() {
        let mut tx = FakeTx::acme();
        let claimed = tx.add_join_domain(DomainState::Pending);
        tx.while_waiting(|tx| tx.edit(admin(), |membership| membership.role = Role::Builder));
        let refused = confirm(&mut tx, &claimed, DnsCheck::Found).await;
        assert!(matches!(refused, Err(WorkspaceError::AdminOnly)), "{refused:?}");
        assert_eq!(tx.join_domains.get(&acme()), Some(&claimed));
        tx.assert_nothing_recorded();
    }
}
