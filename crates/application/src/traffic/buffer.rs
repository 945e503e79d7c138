//! Requests to the data API that are not written yet.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
};

use kernel::id::ProjectId;
use projects::traffic::{MINUTE_MS, RequestCount, RequestRecord, latency_bucket};

/// Maximum number of records kept per project between two flushes; further requests are only counted.
const MAX_PER_PROJECT: usize = 200;
/// Maximum number of records kept for all projects together.
const MAX_BUFFERED: usize = 10_000;

/// Requests that are not written yet.
#[derive(Default)]
pub struct TrafficBuffer(Mutex<BufferedTraffic>);

#[derive(Default)]
struct BufferedTraffic {
    requests: Vec<RequestRecord>,
    buffered_per_project: HashMap<ProjectId, usize>,
    /// Sorted by key, so that two nodes that write lock rows in the same order.
    counted: BTreeMap<(ProjectId, i64, u32), RequestCount>,
}

impl TrafficBuffer {
    /// Records a request; holds a lock for a few instructions only.
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
    /// Takes the requests since the last call: the records that were kept, and the counts of all.
    pub(super) fn take(&self) -> (Vec<RequestRecord>, Vec<RequestCount>) {
        let BufferedTraffic { requests, counted, .. } =
            std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        (requests, counted.into_values().collect())
    }
}
