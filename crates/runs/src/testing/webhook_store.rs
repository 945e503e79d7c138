//! An in-memory webhook store and a rate limiter for tests of inbound calls.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{HookId, WorkspaceId},
};

use crate::webhooks::{
    AcceptCall, AcceptOutcome, RateLimitExceeded, RefusedCallCounter, RefusedDelivery, WebhookRateLimiter,
    WebhookSnapshot, WebhookStore,
};

/// A store of one webhook.
#[derive(Default)]
pub(crate) struct FakeWebhookStore {
    /// State in the database.
    pub(crate) current: Option<Arc<WebhookSnapshot>>,
    /// State in a cache, where it is older than the database's.
    pub(crate) cached: Option<Arc<WebhookSnapshot>>,
    /// True if the state changes again before each call is accepted.
    pub(crate) is_changing: bool,
    /// Operation that fails: `read`, `accept` or `record`.
    pub(crate) failing: Option<&'static str>,
    accepted: Mutex<Vec<AcceptCall>>,
    refused: Mutex<Vec<RefusedDelivery>>,
    reads: Mutex<Vec<Freshness>>,
}

/// Source of a state that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    Cached,
    Fresh,
}

impl FakeWebhookStore {
    /// A store with this webhook.
    pub(crate) fn with(state: WebhookSnapshot) -> Self {
        Self { current: Some(Arc::new(state)), ..Self::default() }
    }

    /// Calls that started a run, oldest first.
    pub(crate) fn take_accepted(&self) -> Vec<AcceptCall> {
        std::mem::take(&mut *self.accepted.lock().unwrap())
    }

    /// Number of calls that started a run.
    pub(crate) fn count_accepted(&self) -> usize {
        self.accepted.lock().unwrap().len()
    }

    /// Refused calls, oldest first.
    pub(crate) fn take_refused(&self) -> Vec<RefusedDelivery> {
        std::mem::take(&mut *self.refused.lock().unwrap())
    }

    /// Reads of the state, oldest first.
    pub(crate) fn reads(&self) -> Vec<Freshness> {
        self.reads.lock().unwrap().clone()
    }

    fn check(&self, operation: &str) -> Result<(), StoreError> {
        if self.failing == Some(operation) { Err(StoreError::Unavailable("down".into())) } else { Ok(()) }
    }
}

#[async_trait]
impl WebhookStore for FakeWebhookStore {
    async fn webhook_snapshot(
        &self,
        id: HookId,
        fresh: bool,
    ) -> Result<Option<Arc<WebhookSnapshot>>, StoreError> {
        self.check("read")?;
        self.reads.lock().unwrap().push(if fresh { Freshness::Fresh } else { Freshness::Cached });
        let state =
            if fresh { &self.current } else { self.cached.as_ref().map_or(&self.current, |_| &self.cached) };
        Ok(state.clone().filter(|state| state.webhook.id == id))
    }

    async fn accept(&self, call: AcceptCall) -> Result<AcceptOutcome, StoreError> {
        self.check("accept")?;
        let is_current = |state: &Arc<WebhookSnapshot>| state.revisions == call.revisions;
        if self.is_changing || !self.current.as_ref().is_some_and(is_current) {
            return Ok(AcceptOutcome::Stale);
        }
        let mut accepted = self.accepted.lock().unwrap();
        let find_earlier = |digest: &[u8; 32]| {
            accepted.iter().find(|earlier| {
                let mut keys = earlier.all_dedup_keys();
                keys.any(|known| known.digest == *digest && known.expires_at > call.at)
            })
        };
        if let Some(earlier) = call.keys.iter().find_map(|key| find_earlier(&key.digest)) {
            return Ok(AcceptOutcome::Duplicate { run: earlier.run, delivery: earlier.delivery });
        }
        if call.signature.as_ref().is_some_and(|signature| find_earlier(&signature.digest).is_some()) {
            return Ok(AcceptOutcome::Replayed);
        }
        if !call.may_start {
            return Ok(AcceptOutcome::New);
        }
        if call.runs_per_month.is_some_and(|limit| accepted.len() as u64 >= limit) {
            return Ok(AcceptOutcome::QuotaReached);
        }
        accepted.push(call);
        Ok(AcceptOutcome::Accepted)
    }

    async fn record_refusal(&self, refused: RefusedDelivery) -> Result<(), StoreError> {
        self.check("record")?;
        self.refused.lock().unwrap().push(refused);
        Ok(())
    }
}

/// A rate limiter that counts.
pub(crate) struct FakeRateLimiter {
    /// Calls that it lets through.
    pub(crate) max_calls: usize,
    /// Form submissions that it lets through.
    pub(crate) max_submissions: usize,
    calls: Mutex<Vec<(HookId, u16)>>,
    submissions: Mutex<Vec<(HookId, Option<IpAddr>, u16)>>,
}

impl FakeRateLimiter {
    /// A limiter that lets everything through.
    pub(crate) fn open() -> Self {
        Self {
            max_calls: usize::MAX,
            max_submissions: usize::MAX,
            calls: Mutex::default(),
            submissions: Mutex::default(),
        }
    }

    /// Calls that were checked, with their webhook's limit.
    pub(crate) fn calls(&self) -> Vec<(HookId, u16)> {
        self.calls.lock().unwrap().clone()
    }

    /// Submissions that were checked, with their address and its limit.
    pub(crate) fn submissions(&self) -> Vec<(HookId, Option<IpAddr>, u16)> {
        self.submissions.lock().unwrap().clone()
    }
}

fn check(count: usize, max: usize) -> Result<(), RateLimitExceeded> {
    let exceeded = RateLimitExceeded { retry_after: Duration::from_secs(7), limit_per_minute: Some(60) };
    if count > max { Err(exceeded) } else { Ok(()) }
}

impl WebhookRateLimiter for FakeRateLimiter {
    fn check_call(&self, hook: HookId, per_minute: u16) -> Result<(), RateLimitExceeded> {
        let mut calls = self.calls.lock().unwrap();
        calls.push((hook, per_minute));
        check(calls.len(), self.max_calls)
    }

    fn check_submission(
        &self,
        hook: HookId,
        address: Option<IpAddr>,
        per_minute: u16,
    ) -> Result<(), RateLimitExceeded> {
        let mut submissions = self.submissions.lock().unwrap();
        submissions.push((hook, address, per_minute));
        check(submissions.len(), self.max_submissions)
    }
}

/// Counts of refused calls.
#[derive(Debug, Default)]
pub(crate) struct FakeRefusedCalls(Mutex<Vec<(HookId, &'static str)>>);

impl FakeRefusedCalls {
    /// Takes the calls that were counted, oldest first.
    pub(crate) fn take(&self) -> Vec<(HookId, &'static str)> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl RefusedCallCounter for FakeRefusedCalls {
    fn count_refused(&self, hook: HookId, _: WorkspaceId, code: &'static str, _: Timestamp) {
        self.0.lock().unwrap().push((hook, code));
    }
}
