//! Deletes files of versions that nothing needs, and counts the code that earlier releases stored.

use std::{sync::Arc, time::Duration};

use apps::storage::CodeUpkeep;
use kernel::{Clock, StoreError};
use tokio_util::sync::CancellationToken;

use crate::run_at_interval;

/// Time between searches for what is to be done.
const INTERVAL: Duration = Duration::from_secs(10);

/// Keeps up the stored code. Every node may run one: each step is repeated without harm, and whoever comes second finds nothing
/// left.
pub struct CodeUpkeepWorker {
    store: Arc<dyn CodeUpkeep>,
    clock: Arc<dyn Clock>,
}

impl CodeUpkeepWorker {
    /// Creates a worker over the control plane's store.
    #[must_use]
    pub fn new(store: Arc<dyn CodeUpkeep>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock }
    }

    /// Works at once and then every ten seconds, until `shutdown`.
    pub async fn run(self, shutdown: CancellationToken) {
        run_at_interval(INTERVAL, shutdown.clone(), || async {
            if let Some(Err(error)) = shutdown.run_until_cancelled(self.keep_up()).await {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "cannot keep up the stored code; it is tried again in ten seconds");
            }
        })
        .await;
    }

    async fn keep_up(&self) -> Result<(), StoreError> {
        while self.store.keep_up_code(self.clock.now()).await? {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use async_trait::async_trait;
    use kernel::{Timestamp, testing::at};

    use super::*;

    /// A store with so many batches of work.
    struct Batches(AtomicU32);

    #[async_trait]
    impl CodeUpkeep for Batches {
        async fn keep_up_code(&self, _: Timestamp) -> Result<bool, StoreError> {
            let left = self.0.load(Ordering::Relaxed).saturating_sub(1);
            self.0.store(left, Ordering::Relaxed);
            Ok(left > 0)
        }
    }

    #[tokio::test]
    async fn it_works_until_nothing_is_left() {
        let store = Arc::new(Batches(AtomicU32::new(3)));
        let worker = CodeUpkeepWorker::new(store.clone(), Arc::new(at(0)));
        worker.keep_up().await.unwrap();
        assert_eq!(store.0.load(Ordering::Relaxed), 0);
    }
}
