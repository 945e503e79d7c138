//! Looking at a proof again.

use kernel::{Context, Timestamp};

use super::{
    DnsCheck, DomainState, JoinDomain, JoinDomainsTx, MAX_MISSES, RECHECK_INTERVAL, RECHECK_INTERVAL_MISSING,
    RECHECK_INTERVAL_UNREACHABLE, dns_check::lock_same_claim,
};
use crate::WorkspaceError;

/// Judges a proved domain anew. Found, it is believed for another week. Missing, it is looked at daily; missing three
/// times in a row, it is only claimed any more, and nobody can join with it. Members stay. What DNS does not say
/// counts for nothing.
///
/// Whether it lapsed. Only that is audited; the dates are the worker's own record.
///
/// # Errors
/// What the store says.
pub async fn recheck_join_domain(
    tx: &mut dyn JoinDomainsTx,
    ctx: &Context,
    looked_up: &JoinDomain,
    check: DnsCheck,
) -> Result<bool, WorkspaceError> {
    // Another node may have judged it meanwhile, or an admin given it up.
    let Some(known) = lock_same_claim(tx, looked_up).await?.filter(|known| known.state == looked_up.state)
    else {
        return Ok(false);
    };
    let state = next_state(known.state, ctx.now, check);
    if state == known.state {
        return Ok(false);
    }
    let judged = JoinDomain { state, ..known };
    tx.upsert_join_domain(&judged).await?;
    let lapsed = !judged.is_verified();
    let action = if lapsed { "join_domain.lapse" } else { "join_domain.recheck" };
    let detail = serde_json::json!({ "domain": judged.domain.as_str(), "found": check == DnsCheck::Found });
    tx.audit(ctx.audit_entry(action).workspace(judged.workspace).target(judged.workspace).detail(detail));
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

    use super::*;

    #[test]
    fn a_proof_lapses_when_it_is_missing_three_times_in_a_row() {
        let start = Timestamp::UNIX_EPOCH;
        let day = |number| start + TimeDelta::days(number);
        let mut state = DomainState::Verified { at: start, recheck_at: day(7), misses: 0 };
        let mut step = |now, finding| {
            state = next_state(state, now, finding);
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
}
