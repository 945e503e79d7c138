//! Requests to a project's data API: the latest ones, and how many there were and how long they took.
//!
//! Every request is counted, into a minute and a class of durations; of the single ones only some are kept when there are
//! very many.

use kernel::{
    Timestamp,
    id::{ProjectId, ProjectKeyId},
};

/// The minutes that are looked back on.
pub const WINDOW_MINUTES: usize = 60;
/// Milliseconds of a minute.
pub const MINUTE_MS: i64 = 60_000;

/// One request that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRecord {
    /// Whose data API it was.
    pub project: ProjectId,
    /// When it came.
    pub at: Timestamp,
    /// Its method.
    pub method: String,
    /// Its path, without the query: at most 300 characters.
    pub path: String,
    /// The table it named.
    pub table: Option<String>,
    /// The status of the answer.
    pub status: u16,
    /// How long it took, in microseconds.
    pub micros: u64,
    /// The key it came with.
    pub key: ProjectKeyId,
    /// How many rows it showed or wrote.
    pub rows: Option<u64>,
    /// The code of the refusal.
    pub error_code: Option<String>,
}

/// A request that was kept, with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRequest {
    /// Rises with every request.
    pub number: u64,
    /// The request.
    pub request: RequestRecord,
}

/// Requests of one minute that took about as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestCount {
    /// Whose they are.
    pub project: ProjectId,
    /// The minute's beginning, in milliseconds since 1970.
    pub minute: i64,
    /// Their class, see [`latency_bucket`].
    pub bucket: u32,
    /// How many there were.
    pub requests: u64,
    /// How many of them were refused or failed.
    pub errors: u64,
    /// When the last one came, in milliseconds since 1970.
    pub last_at: i64,
}

/// The class of a duration: four to each doubling, so that a class tells it to within a tenth.
#[must_use]
pub fn latency_bucket(micros: u64) -> u32 {
    // Never negative, and at most 256.
    (4.0 * (micros.max(1) as f64).log2()).ceil() as u32
}

/// The middle of a class, in milliseconds.
fn bucket_midpoint_ms(bucket: u32) -> f64 {
    let micros = ((f64::from(bucket) - 0.5) / 4.0).exp2();
    (micros / 10.0).round() / 100.0
}

/// How a project's last hour went.
#[derive(Debug, Clone, PartialEq)]
pub struct TrafficMetrics {
    /// Requests of each minute, the oldest first.
    pub per_minute: Vec<u64>,
    /// All of them.
    pub total: u64,
    /// How many were refused or failed.
    pub errors: u64,
    /// Half took no longer, in milliseconds.
    pub p50_ms: Option<f64>,
    /// Nineteen of twenty took no longer, in milliseconds.
    pub p95_ms: Option<f64>,
    /// When the last one came, in milliseconds since 1970.
    pub last_at: Option<i64>,
}

impl TrafficMetrics {
    /// Where the window that ends now begins: the beginning of a minute, in milliseconds since 1970.
    #[must_use]
    pub fn window_start(now: Timestamp) -> i64 {
        let window = i64::try_from(WINDOW_MINUTES).unwrap_or(i64::MAX);
        (now.timestamp_millis().div_euclid(MINUTE_MS) + 1 - window) * MINUTE_MS
    }

    /// The numbers of a window from its counts.
    #[must_use]
    pub fn from_counts(counted: &[RequestCount], begin: i64) -> Self {
        let mut per_minute = vec![0; WINDOW_MINUTES];
        let mut classes = std::collections::BTreeMap::new();
        let (mut total, mut errors, mut last_at) = (0, 0, None);
        for count in counted {
            let at = usize::try_from((count.minute - begin) / MINUTE_MS).ok();
            let Some(minute) = at.and_then(|at| per_minute.get_mut(at)) else { continue };
            *minute += count.requests;
            *classes.entry(count.bucket).or_insert(0) += count.requests;
            total += count.requests;
            errors += count.errors;
            last_at = last_at.max(Some(count.last_at));
        }
        let quantile = |hundredths: u64| {
            let wanted = (total * hundredths).div_ceil(100).max(1);
            let mut seen = 0;
            classes.iter().find_map(|(bucket, count)| {
                seen += count;
                (seen >= wanted).then(|| bucket_midpoint_ms(*bucket))
            })
        };
        Self { p50_ms: quantile(50), p95_ms: quantile(95), per_minute, total, errors, last_at }
    }

    /// Requests a minute, over the window.
    #[must_use]
    pub fn requests_per_minute(&self) -> f64 {
        (self.total as f64 / WINDOW_MINUTES as f64 * 100.0).round() / 100.0
    }
}

#[cfg(test)]
mod tests {
    use kernel::Id;

    use super::*;

    #[test]
    fn classes_tell_a_duration_to_within_a_tenth() {
        for micros in [1_u64, 7, 250, 999, 1_000, 30_000, 5_000_000] {
            let told = ((f64::from(latency_bucket(micros)) - 0.5) / 4.0).exp2();
            let off = (told / micros as f64 - 1.0).abs();
            assert!(off < 0.1, "{micros} is told as {told}");
        }
        assert_eq!(latency_bucket(0), 0);
    }

    #[test]
    fn an_hour_is_summed_up() {
        let begin = 10 * MINUTE_MS;
        let count = |minute: i64, micros, requests, errors| RequestCount {
            project: Id::from_uuid(Default::default()),
            minute: minute * MINUTE_MS,
            bucket: latency_bucket(micros),
            requests,
            errors,
            last_at: minute * MINUTE_MS + 5,
        };
        let metrics = TrafficMetrics::from_counts(
            &[count(10, 1_000, 90, 1), count(69, 100_000, 10, 2), count(70, 1, 5, 5)],
            begin,
        );
        assert_eq!((metrics.total, metrics.errors, metrics.last_at), (100, 3, Some(69 * MINUTE_MS + 5)));
        assert_eq!((metrics.per_minute[0], metrics.per_minute[59]), (90, 10));
        assert!(metrics.p50_ms.is_some_and(|ms| (0.9..1.1).contains(&ms)), "{metrics:?}");
        assert!(metrics.p95_ms.is_some_and(|ms| (90.0..110.0).contains(&ms)), "{metrics:?}");
        let none = TrafficMetrics::from_counts(&[], begin);
        assert_eq!((none.p50_ms, none.total, none.last_at), (None, 0, None));
    }
}
