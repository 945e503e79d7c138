//! Checking the record of a verified domain again.

use kernel::{Context, Timestamp};

use super::{
    DnsCheck, DomainState, JoinDomain, JoinDomainsTx, MAX_MISSES, RECHECK_INTERVAL, RECHECK_INTERVAL_MISSING,
    RECHECK_INTERVAL_UNREACHABLE, dns_check::lock_same_claim,
};
use crate::WorkspaceError;

/// Updates a verified domain by the result of a lookup, and returns true if the domain has lapsed.
///
/// A record that was found is checked again in [`RECHECK_INTERVAL`]. One that is missing is checked again in
/// [`RECHECK_INTERVAL_MISSING`], and after [`MAX_MISSES`] checks in a row the domain lapses: it is only claimed, and nobody
/// can join by it. Members stay. When DNS gives no answer, the misses stay as they are and the next check is in
/// [`RECHECK_INTERVAL_UNREACHABLE`].
///
/// Every update is audited. `looked_up` is the claim as it was before the lookup; nothing happens if it has changed since.
///
/// # Errors
/// [`WorkspaceError::WorkspaceNotFound`] when the workspace does not exist; a failure of the store.
#[tracing::instrument(level = "debug", skip_all)]
pub async fn recheck_join_domain(
    tx: &mut dyn JoinDomainsTx,
    ctx: &Context,
    looked_up: &JoinDomain,
    check: DnsCheck,
) -> Result<bool, WorkspaceError> {
    // Another node may have updated it since the lookup, or an admin deleted it.
    let Some(known) = lock_same_claim(tx, looked_up).await?.filter(|known| known.state == looked_up.state)
    else {
        return Ok(false);
    };
    let state = next_state(known.state, ctx.now, check);
    if state == known.state {
        return Ok(false);
    }
    let updated = JoinDomain { state, ..known };
    tx.upsert_join_domain(&updated).await?;
    let lapsed = !updated.is_verified();
    let action = if lapsed { "join_domain.lapse" } else { "join_domain.recheck" };
    let detail = serde_json::json!({ "domain": updated.domain.as_str(), "found": check == DnsCheck::Found });
    tx.audit(ctx.audit_entry(action).workspace(updated.workspace).target(updated.workspace).detail(detail));
    Ok(lapsed)
}

fn next_state(state: DomainState, now: Timestamp, check: DnsCheck) -> DomainState {
    let DomainState::Verified { at, misses, .. } = state else { return state };
    let verified = |wait, misses| DomainState::Verified { at, recheck_at: now + wait, misses };
    match check {
        DnsCheck::Found => verified(RECHECK_INTERVAL, 0),
        DnsCheck::Unreachable => verified(RECHECK_INTERVAL_UNREACHABLE, misses),
        DnsCheck::Missing if misses + 1 >= MAX_MISSES => DomainState::Pending,
        DnsCheck::Missing => verified(RECHECK_INTERVAL_MISSING, misses + 1),
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use kernel::{
        Caller,
        testing::{at, context},
    };
    use serde_json::json;

    use super::*;
    use crate::testing::{DAY, FakeTx, acme};

    #[test]
    fn a_domain_lapses_when_the_record_is_missing_three_times_in_a_row() {
        let start = Timestamp::UNIX_EPOCH;
        let day = |number| start + TimeDelta::days(number);
        let mut state = DomainState::Verified { at: start, recheck_at: day(7), misses: 0 };
        let mut step = |now, check| {
            state = next_state(state, now, check);
            state
        };
        let verified = |recheck_at, misses| DomainState::Verified { at: start, recheck_at, misses };
        assert_eq!(step(day(7), DnsCheck::Missing), verified(day(8), 1));
        assert_eq!(step(day(8), DnsCheck::Missing), verified(day(9), 2));
        assert_eq!(step(day(9), DnsCheck::Unreachable), verified(day(9) + RECHECK_INTERVAL_UNREACHABLE, 2));
        assert_eq!(step(day(10), DnsCheck::Found), verified(day(17), 0));
        for (number, misses) in [(17, 1), (18, 2)] {
            assert_eq!(step(day(number), DnsCheck::Missing), verified(day(number + 1), misses));
        }
        assert_eq!(step(day(19), DnsCheck::Missing), DomainState::Pending);
        assert_eq!(step(day(20), DnsCheck::Found), DomainState::Pending);
    }

    async fn recheck(
        tx: &mut FakeTx,
        looked_up: &JoinDomain,
        check: DnsCheck,
    ) -> Result<bool, WorkspaceError> {
        let ctx = context(Caller::System("domain-checks"), at(0));
        recheck_join_domain(tx, &ctx, looked_up, check).await
    }

    fn verified(recheck_at: Timestamp, misses: u8) -> DomainState {
        DomainState::Verified { at: at(-9), recheck_at, misses }
    }

    #[tokio::test]
    async fn every_change_of_state_is_audited_and_only_a_lapse_is_returned() {
        for (misses, check, state, action, lapsed) in [
            (1, DnsCheck::Found, verified(at(7 * DAY), 0), "join_domain.recheck", false),
            (1, DnsCheck::Missing, verified(at(DAY), 2), "join_domain.recheck", false),
            (1, DnsCheck::Unreachable, verified(at(DAY / 4), 1), "join_domain.recheck", false),
            (2, DnsCheck::Missing, DomainState::Pending, "join_domain.lapse", true),
        ] {
            let mut tx = FakeTx::acme();
            let before = tx.add_join_domain(verified(at(0), misses));
            assert_eq!(recheck(&mut tx, &before, check).await.unwrap(), lapsed);
            assert_eq!(tx.join_domains.get(&acme()), Some(&JoinDomain { state, ..before }));
            let detail = json!({ "domain": "acme.example", "found": check == DnsCheck::Found });
            assert_eq!(tx.audited(), [(action, acme().to_string(), detail)]);
            assert_eq!(tx.work.audit[0].actor, kernel::Actor::System("domain-checks".into()));
            assert_eq!(tx.memberships.len(), 4, "members stay");
        }
    }

    #[tokio::test]
    async fn a_domain_that_changed_since_the_lookup_is_left_alone() {
        let rechecked = |tx: &mut FakeTx| drop(tx.add_join_domain(verified(at(DAY), 2)));
        let deleted = |tx: &mut FakeTx| tx.join_domains.clear();
        let replaced = |tx: &mut FakeTx| {
            let domain = tx.join_domains.get_mut(&acme()).unwrap();
            domain.verification_record = "another".to_owned();
        };
        for change in [rechecked, deleted, replaced] {
            let mut tx = FakeTx::acme();
            let before = tx.add_join_domain(verified(at(0), 2));
            tx.while_waiting(change);
            assert!(!recheck(&mut tx, &before, DnsCheck::Missing).await.unwrap());
            assert!(tx.join_domains.values().all(JoinDomain::is_verified));
            tx.assert_nothing_recorded();
        }
    }

    #[tokio::test]
    async fn a_claim_that_is_only_pending_is_not_verified_by_a_recheck() {
        let mut tx = FakeTx::acme();
        let pending = tx.add_join_domain(DomainState::Pending);
        assert!(!recheck(&mut tx, &pending, DnsCheck::Found).await.unwrap());
        assert_eq!(tx.join_domains.get(&acme()), Some(&pending));
        tx.assert_nothing_recorded();
    }

    #[tokio::test]
    async fn a_domain_of_a_workspace_that_is_gone_is_reported() {
        let mut tx = FakeTx::acme();
        let before = tx.add_join_domain(verified(at(0), 0));
        tx.workspaces.clear();
        let refused = recheck(&mut tx, &before, DnsCheck::Missing).await;
        assert!(matches!(refused, Err(WorkspaceError::WorkspaceNotFound)), "{refused:?}");
    }
}
