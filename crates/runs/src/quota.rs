//! The quota of runs of a month: what becomes of a run that starts beyond it.

use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{StoreError, Timestamp, id::WorkspaceId};

use crate::RunsError;

/// Most runs of a workspace that are held at once.
pub const MAX_HELD_RUNS: u64 = 1_000;

/// Time after which a held run is dropped, from when it could have started.
pub const MAX_HOLD: TimeDelta = TimeDelta::days(7);

/// Code of what the quota refused, and of a run that was held for [`MAX_HOLD`].
pub const QUOTA_REACHED: &str = "quota_reached";

/// Decision about a run that would start now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It starts, and is counted.
    Start,
    /// It waits until the quota has room, and is counted then.
    Hold,
    /// It is refused: the quota is used up, and [`MAX_HELD_RUNS`] wait already.
    Refuse,
}

impl Admission {
    /// Returns true if the run is held.
    ///
    /// # Errors
    /// [`RunsError::QuotaReached`] if it is refused.
    pub(crate) fn is_on_hold(self) -> Result<bool, RunsError> {
        match self {
            Self::Start => Ok(false),
            Self::Hold => Ok(true),
            Self::Refuse => Err(RunsError::QuotaReached),
        }
    }
}

/// Runs that wait because their workspace's quota was used up.
#[async_trait]
pub trait HeldRunsStore: Send + Sync {
    /// Returns the workspaces that have held runs.
    async fn workspaces_with_held_runs(&self) -> Result<Vec<WorkspaceId>, StoreError>;

    /// Releases held runs of a workspace, the oldest first, as far as the quota of the month of `now` has room; returns
    /// their number. A call releases a limited number of runs: repeat it until it returns 0.
    async fn release_held_runs(&self, workspace: WorkspaceId, now: Timestamp) -> Result<u64, StoreError>;

    /// Ends the runs of a workspace that could have started at `before` or earlier and are still held as failed with the
    /// code [`QUOTA_REACHED`]; returns their number. A call ends a limited number of runs: repeat it until it returns 0.
    async fn drop_held_runs(
        &self,
        workspace: WorkspaceId,
        before: Timestamp,
        now: Timestamp,
    ) -> Result<u64, StoreError>;
}
