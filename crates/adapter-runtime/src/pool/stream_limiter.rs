//! A limit on streamed responses. A visitor who reads slowly keeps a process from everybody else for as long as a response may
//! take, and it costs the visitor nothing: so streams get half of the slots for responses, and no share all of that half.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kernel::ShareId;
use runs::fair_share::can_acquire;

/// The permits for streams of one engine.
#[derive(Debug)]
pub(crate) struct StreamLimiter {
    limit: usize,
    active: Mutex<HashMap<ShareId, usize>>,
}

/// A permit to stream one response. Dropping it frees it.
#[derive(Debug)]
pub(crate) struct StreamPermit {
    limiter: Arc<StreamLimiter>,
    share: ShareId,
}

impl StreamLimiter {
    /// Allows half as many streams as responses, and at least one.
    pub(crate) fn for_request_limit(requests: usize) -> Self {
        Self { limit: (requests / 2).max(1), active: Mutex::default() }
    }

    /// Takes a permit, unless there is none left or `share` has its part.
    pub(crate) fn try_acquire(self: &Arc<Self>, share: ShareId) -> Option<StreamPermit> {
        let mut active = self.lock_active();
        let own = active.get(&share).copied().unwrap_or_default();
        let free = self.limit.saturating_sub(active.values().sum());
        if !can_acquire(own, free) {
            return None;
        }
        active.insert(share, own + 1);
        Some(StreamPermit { limiter: Arc::clone(self), share })
    }

    /// Locks the counts. A panic of another thread leaves them whole, since each change is one call.
    fn lock_active(&self) -> MutexGuard<'_, HashMap<ShareId, usize>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StreamPermit {
    fn drop(&mut self) {
        let mut active = self.limiter.lock_active();
        match active.get_mut(&self.share) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(active.remove(&self.share)),
        }
    }
}

#[cfg(test)]
mod tests {
    use kernel::Id;
    use uuid::Uuid;

    use super::*;

    fn share(number: u128) -> ShareId {
        let workspace: kernel::id::WorkspaceId = Id::from_uuid(Uuid::from_u128(number));
        workspace.into()
    }

    #[test]
    fn a_share_leaves_places_to_others() {
        let streams = Arc::new(StreamLimiter::for_request_limit(8));
        let [one, two, three] = [1, 2, 3].map(share);
        let mut own: Vec<_> = (0..3).map(|_| streams.try_acquire(one).unwrap()).collect();
        assert!(streams.try_acquire(one).is_none());
        let other = streams.try_acquire(two).unwrap();
        assert!(streams.try_acquire(two).is_none(), "all four are taken");
        own.pop();
        assert!(streams.try_acquire(one).is_none(), "the last is for who has none");
        let third = streams.try_acquire(three).unwrap();
        drop((own, other, third));
        assert!(streams.lock_active().is_empty());
    }

    #[test]
    fn few_processes_stream_too() {
        for answers in [1, 2, 3] {
            let streams = Arc::new(StreamLimiter::for_request_limit(answers));
            let place = streams.try_acquire(share(1));
            assert!(place.is_some() && streams.try_acquire(share(2)).is_none());
        }
    }
}
