//! Requests to the data API on their way into the store: counted in memory, written many at once.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
};

use kernel::{StoreError, id::ProjectId};
use projects::traffic::{MINUTE_MS, RequestCount, RequestRecord, latency_bucket};

use crate::Application;

/// How many requests of one project are kept between two times they are written; the others are counted alone.
const MAX_PER_PROJECT: usize = 200;
/// How many are kept of all projects together.
const MAX_BUFFERED: usize = 10_000;

/// What was not written yet.
#[derive(Default)]
pub struct TrafficBuffer(Mutex<BufferedTraffic>);

#[derive(Default)]
struct BufferedTraffic {
    requests: Vec<RequestRecord>,
    buffered_per_project: HashMap<ProjectId, usize>,
    /// In the order of their keys, so that two nodes that write lock rows in one order.
    counted: BTreeMap<(ProjectId, i64, u32), RequestCount>,
}

impl TrafficBuffer {
    /// Takes one request; a few instructions under a lock.
    pub fn record(&self, request: RequestRecord) {
        let at = request.at.timestamp_millis();
        let (minute, class) = (at.div_euclid(MINUTE_MS) * MINUTE_MS, latency_bucket(request.micros));
        let mut unwritten = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = unwritten.counted.entry((request.project, minute, class)).or_insert(RequestCount {
            project: request.project,
            minute,
            bucket: class,
            requests: 0,
            errors: 0,
            last_at: at,
        });
        counted.requests += 1;
        counted.errors += u64::from(request.status >= 400);
        counted.last_at = counted.last_at.max(at);
        let full = unwritten.requests.len() >= MAX_BUFFERED;
        let kept = unwritten.buffered_per_project.entry(request.project).or_default();
        if !full && *kept < MAX_PER_PROJECT {
            *kept += 1;
            unwritten.requests.push(request);
        }
    }
}

impl Application {
    /// Writes the requests that were answered since the last time.
    ///
    /// # Errors
    /// What the store says; what was not written is lost.
    pub async fn flush_traffic(&self) -> Result<(), StoreError> {
        let BufferedTraffic { requests, counted, .. } =
            std::mem::take(&mut *self.traffic().0.lock().unwrap_or_else(PoisonError::into_inner));
        if counted.is_empty() {
            return Ok(());
        }
        let counted: Vec<RequestCount> = counted.into_values().collect();
        self.store().record_requests(&requests, &counted).await
    }
}
