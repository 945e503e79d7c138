//! Requests to the data API on their way into the store: counted in memory, written many at once.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
};

use kernel::{StoreError, id::ProjectId};
use projects::traffic::{Counted, MINUTE, Request, bucket};

use crate::state::Api;

/// How many requests of one project are kept between two times they are written; the others are counted alone.
const KEPT_EACH: usize = 200;
/// How many are kept of all projects together.
const KEPT: usize = 10_000;

/// What was not written yet.
#[derive(Default)]
pub(crate) struct Traffic(Mutex<Unwritten>);

#[derive(Default)]
struct Unwritten {
    requests: Vec<Request>,
    kept: HashMap<ProjectId, usize>,
    /// In the order of their keys, so that two nodes that write lock rows in one order.
    counted: BTreeMap<(ProjectId, i64, u32), Counted>,
}

impl Traffic {
    /// Takes one request; a few instructions under a lock.
    pub(crate) fn note(&self, request: Request) {
        let at = request.at.timestamp_millis();
        let (minute, class) = (at.div_euclid(MINUTE) * MINUTE, bucket(request.micros));
        let mut unwritten = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = unwritten.counted.entry((request.project, minute, class)).or_insert(Counted {
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
        let full = unwritten.requests.len() >= KEPT;
        let kept = unwritten.kept.entry(request.project).or_default();
        if !full && *kept < KEPT_EACH {
            *kept += 1;
            unwritten.requests.push(request);
        }
    }
}

impl Api {
    /// Writes the requests that were answered since the last time.
    ///
    /// # Errors
    /// What the store says; what was not written is lost.
    pub async fn write_traffic(&self) -> Result<(), StoreError> {
        let Unwritten { requests, counted, .. } =
            std::mem::take(&mut *self.traffic.0.lock().unwrap_or_else(PoisonError::into_inner));
        if counted.is_empty() {
            return Ok(());
        }
        let counted: Vec<Counted> = counted.into_values().collect();
        self.store().note_requests(&requests, &counted).await
    }
}
