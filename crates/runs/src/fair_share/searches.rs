//! Turns of those for whom secrets are searched for.

use std::{
    sync::{Arc, LazyLock},
    thread::available_parallelism,
};

use super::{FairSemaphore, ShareLimits};

/// Long searches of this process for secrets in what code logs and receives. They take at most half of the processors, whoever
/// they are for. What a search is needed for is bounded, so those that wait are not.
static SEARCHES: LazyLock<Arc<FairSemaphore>> = LazyLock::new(|| {
    let processors = available_parallelism().map_or(1, usize::from);
    FairSemaphore::new(processors / 2, ShareLimits { permits: usize::MAX, waiting: usize::MAX })
});

/// Returns the turns of long searches for secrets.
#[must_use]
pub fn search_turns() -> &'static Arc<FairSemaphore> {
    &SEARCHES
}
