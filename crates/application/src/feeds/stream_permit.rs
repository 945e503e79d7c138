//! Permits for open streams and waiting requests.

use kernel::id::UserId;
use tokio::sync::watch;

use crate::{Application, Problem};

/// Permit for a stream or a waiting request of a person; dropping it releases it.
pub struct StreamPermit {
    app: Application,
    user: UserId,
    shutdown: watch::Receiver<bool>,
}

impl StreamPermit {
    /// Acquires a permit.
    ///
    /// # Errors
    /// 429 `too_many_streams` if the person or the process has too many.
    pub fn acquire(app: &Application, user: UserId) -> Result<Self, Problem> {
        app.stream_quota().acquire(user)?;
        Ok(Self { app: app.clone(), user, shutdown: app.stream_quota().subscribe() })
    }

    /// Waits until the server stops; returns at once if it already does.
    pub async fn wait_closed(&mut self) {
        // Cannot fail: the sender lives as long as the application, which `self` holds.
        let _closed = self.shutdown.wait_for(|closed| *closed).await;
    }

    /// Returns `true` once the server stops.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        *self.shutdown.borrow()
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        self.app.stream_quota().release(self.user);
    }
}
