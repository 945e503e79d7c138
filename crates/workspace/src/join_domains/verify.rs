//! What is made of a look at DNS. The look itself happens before, outside any transaction.

use kernel::{Context, authority::Admin};

use super::{
    DomainState, JoinDomain, JoinDomainsTx, MAX_MISSES, RECHECK_INTERVAL, RECHECK_INTERVAL_MISSING,
    RECHECK_INTERVAL_UNREACHABLE,
};
use crate::{WorkspaceError, members::lock_as_admin};

/// What a look at DNS found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DnsCheck {
    /// The record is there.
    Found,
    /// DNS says that it is not.
    Missing,
    /// DNS did not say.
    Unreachable,
}

/// Takes a domain as proved when its record was found; who proves it first has it. Asked for by an admin.
///
/// # Errors
/// [`WorkspaceError::DomainTaken`] when another workspace has proved it before, or what the store says.
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
    let proved = JoinDomain { state, ..known };
    tx.upsert_join_domain(&proved).await?;
    let detail = serde_json::json!({ "domain": proved.domain.as_str() });
    let entry = ctx.audit_entry("join_domain.verify").workspace(proved.workspace).target(proved.workspace);
    tx.audit(entry.detail(detail));
    Ok(proved)
}

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

fn next_state(state: DomainState, now: kernel::Timestamp, check: DnsCheck) -> DomainState {
    let DomainState::Verified { at, misses, .. } = state else { return state };
    let verified = |wait, misses| DomainState::Verified { at, recheck_at: now + wait, misses };
    match check {
        DnsCheck::Found => verified(RECHECK_INTERVAL, 0),
        DnsCheck::Unreachable => verified(RECHECK_INTERVAL_UNREACHABLE, misses),
        DnsCheck::Missing if misses + 1 >= MAX_MISSES => DomainState::Pending,
        DnsCheck::Missing => verified(RECHECK_INTERVAL_MISSING, misses + 1),
    }
}

/// The claim that was looked up, as it stands now; none when it was given up or is another.
async fn lock_same_claim(
    tx: &mut dyn JoinDomainsTx,
    looked_up: &JoinDomain,
) -> Result<Option<JoinDomain>, WorkspaceError> {
    tx.lock_members(looked_up.workspace).await?.ok_or(WorkspaceError::WorkspaceNotFound)?;
    let known = tx.join_domain_of(looked_up.workspace).await?;
    Ok(known.filter(|known| known.verification_record == looked_up.verification_record))
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use kernel::Timestamp;

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
