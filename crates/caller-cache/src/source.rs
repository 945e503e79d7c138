//! The source from which the changes of other nodes are read.

use std::{error::Error, time::Duration};

/// The changes that all nodes have recorded, this one among them.
pub trait ChangeSource: Send + Sync + 'static {
    /// The write, as the caches know it.
    type Change: Send;

    /// Reason why the changes could not be read.
    type Error: Error + Send + Sync + 'static;

    /// Age up to which recorded changes are returned. Half of it must be longer than a transaction takes from recording a
    /// change to its commit: until then nobody sees the change, and its time is older than that.
    const LOOKBACK: Duration;

    /// Returns every committed change that was recorded within [`Self::LOOKBACK`], in any order, those that were returned
    /// before too.
    fn recent_changes(
        &self,
    ) -> impl Future<Output = Result<Vec<RecordedChange<Self::Change>>, Self::Error>> + Send;
}

/// A change with the number that it is told from others by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordedChange<C> {
    /// Number of the change, never used again.
    pub id: i64,
    /// The change; none if only a newer version knows what it is.
    pub change: Option<C>,
}
