//! Releases runs that wait because their workspace's runs of the month were used up.

use std::{sync::Arc, time::Duration};

use kernel::{Clock, StoreError};
use runs::quota::{HeldRunsStore, MAX_HOLD};
use tokio_util::sync::CancellationToken;

use crate::run_at_interval;

/// Bound on the delay before a new month or a larger plan is noticed.
const RELEASE_INTERVAL: Duration = Duration::from_secs(5);

/// Releases held runs as their workspace's quota has room, and drops those that waited for too long.
///
/// Every node may run one: whoever comes second finds nothing left.
pub struct RunReleaser {
    store: Arc<dyn HeldRunsStore>,
    clock: Arc<dyn Clock>,
}

impl RunReleaser {
    /// Creates a worker over the control plane's store.
    #[must_use]
    pub fn new(store: Arc<dyn HeldRunsStore>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

    /// Releases and drops what is due at once and then every five seconds, until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        run_at_interval(RELEASE_INTERVAL, shutdown.clone(), || async {
            if let Some(Err(error)) = shutdown.run_until_cancelled(self.release_due()).await {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "cannot release held runs; it is tried again in five seconds");
            }
        })
        .await;
    }

    async fn release_due(&self) -> Result<(), StoreError> {
        for workspace in self.store.workspaces_with_held_runs().await? {
            let now = self.clock.now();
            while self.store.drop_held_runs(workspace, now - MAX_HOLD, now).await? > 0 {}
            while self.store.release_held_runs(workspace, now).await? > 0 {}
        }
        Ok(())
    }
}
