//! Locking an open dead letter.

use kernel::{
    authority::{AppRight, CanEdit},
    id::DeadLetterId,
};

use super::{DeadLetterOrigin, DeadLetterState, ReplaySource};
use crate::{RunsError, ports::DeadLettersTx};

/// Returns and locks an open dead letter of the app.
pub(super) async fn get_open_dead_letter(
    tx: &mut dyn DeadLettersTx,
    right: &AppRight<CanEdit>,
    id: DeadLetterId,
) -> Result<(DeadLetterOrigin, ReplaySource), RunsError> {
    let found = tx.dead_letter_for_update(right.member().workspace(), id).await?;
    let (origin, state, source) =
        found.filter(|(_, _, source)| source.app == right.app()).ok_or(RunsError::DeadLetterNotFound)?;
    if state == DeadLetterState::Open { Ok((origin, source)) } else { Err(RunsError::DeadLetterResolved) }
}
