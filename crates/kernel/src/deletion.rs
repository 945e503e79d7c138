//! The time between a deletion and the purge of the data.

use chrono::TimeDelta;

/// Time for which a deleted workspace or backend project can be restored; after it, its data is purged.
pub const RESTORE_PERIOD: TimeDelta = TimeDelta::days(7);
