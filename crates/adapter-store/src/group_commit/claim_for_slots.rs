//! Claims of a batch: what it accepts or ends leaves slots, which it gives to what waits.

use std::collections::HashMap;

use kernel::StoreError;
use runs::queue::{LEASE, RunSlot};
use uuid::Uuid;

use super::{
    claim::{claim_turns, ready_workspaces},
    claim_turns::choose_turns,
    slots::{OpenSlots, StartedRun},
};
use crate::sql::SqlExecutor;

/// Runs that were claimed with the slots that they start in.
pub(super) struct SlotClaim {
    pub(super) started: Vec<StartedRun>,
    /// True if nothing that is due and may be claimed is left.
    pub(super) is_queue_empty: bool,
}

/// Claims as [`claim`](super::claim::claim) does, for slots that are reserved first, so that several writers of a process do
/// not claim for the same ones.
pub(super) async fn claim_for_slots<D: SqlExecutor>(
    tx: &D,
    OpenSlots { slots, claim }: &OpenSlots,
) -> Result<SlotClaim, StoreError> {
    let now = claim.clock.now();
    let ready = ready_workspaces(tx, claim, now).await?;
    if ready.is_empty() {
        return Ok(SlotClaim { started: Vec::new(), is_queue_empty: true });
    }
    let mut reserved: HashMap<Uuid, Vec<Box<dyn RunSlot>>> = HashMap::new();
    let turns: Vec<_> = choose_turns(&ready, &claim.limit, &claim.history)
        .into_iter()
        .map(|(one, most)| {
            let free: Vec<_> = (0..most).map_while(|_| slots.reserve(one.share)).collect();
            let most = u32::try_from(free.len()).unwrap_or(most);
            reserved.insert(one.workspace, free);
            (one, most)
        })
        .collect();
    if reserved.values().all(Vec::is_empty) {
        return Ok(SlotClaim { started: Vec::new(), is_queue_empty: false });
    }
    let claimed = claim_turns(tx, claim, &turns, now).await?;
    let lease_until = now + LEASE;
    let started = claimed.into_iter().filter_map(|run| {
        let slot = reserved.get_mut(&run.workspace.uuid()).and_then(Vec::pop)?;
        Some(StartedRun { run, lease_until, slot })
    });
    let started = started.collect();
    // Each of them had a turn, and had fewer runs than it was given slots.
    let is_queue_empty = turns.len() == ready.len() && reserved.values().all(|left| !left.is_empty());
    Ok(SlotClaim { started, is_queue_empty })
}
