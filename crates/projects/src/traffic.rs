//! Traffic of a project's data API: records of the latest requests, and counts of all.
//!
//! Every request is counted by its minute and its latency bucket. Records of single requests are sampled under load.

use kernel::{
    Timestamp,
    id::{ProjectId, ProjectKeyId},
};

/// Minutes that [`TrafficMetrics`] covers.
pub const WINDOW_MINUTES: usize = 60;
/// Milliseconds in a minute.
pub const MINUTE_MS: i64 = 60_000;

/// A request that was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRecord {
    /// Project whose data API was called.
    pub project: ProjectId,
    /// Time of arrival.
    pub at: Timestamp,
    /// HTTP method.
    pub method: String,
    /// Path without the query; at most 300 characters.
    pub path: String,
    /// Table that the request names, if any.
    pub table: Option<String>,
    /// Status of the response.
    pub status: u16,
    /// Duration in microseconds.
    pub micros: u64,
    /// Key that the caller presented.
    pub key: ProjectKeyId,
    /// Rows returned or written.
    pub rows: Option<u64>,
    /// Error code of the response.
    pub error_code: Option<String>,
}

/// A stored request with its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRequest {
    /// Number of the request; rises with every stored request.
    pub number: u64,
    /// Request.
    pub request: RequestRecord,
}

/// The requests to one project in one minute and one latency bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestCount {
    /// Project.
    pub project: ProjectId,
    /// Start of the minute, in milliseconds since 1970.
    pub minute: i64,
    /// Latency bucket; see [`latency_bucket`].
    pub bucket: u32,
    /// Number of requests.
    pub requests: u64,
    /// Number of requests that were refused or failed.
    pub errors: u64,
    /// Arrival of the last request, in milliseconds since 1970.
    pub last_at: i64,
}

/// Returns the latency bucket of a duration. There are four buckets to each doubling, so that the middle of a bucket is
/// within 10 % of every duration in it.
#[must_use]
pub fn latency_bucket(micros: u64) -> u32 {
    // Never negative, and at most 256.
    (4.0 * (micros.max(1) as f64).log2()).ceil() as u32
}

/// Returns the middle of a bucket, in milliseconds rounded to hundredths.
fn bucket_midpoint_ms(bucket: u32) -> f64 {
    let micros = ((f64::from(bucket) - 0.5) / 4.0).exp2();
    (micros / 10.0).round() / 100.0
}

/// Traffic of a project over the last [`WINDOW_MINUTES`].
#[derive(Debug, Clone, PartialEq)]
pub struct TrafficMetrics {
    /// Number of requests in each minute, oldest first.
    pub per_minute: Vec<u64>,
    /// Number of all requests.
    pub total: u64,
    /// Number of requests that were refused or failed.
    pub errors: u64,
    /// Median duration in milliseconds, to within 10 %; none without requests.
    pub p50_ms: Option<f64>,
    /// 95th percentile of the durations in milliseconds, to within 10 %; none without requests.
    pub p95_ms: Option<f64>,
    /// Arrival of the last request, in milliseconds since 1970.
    pub last_at: Option<i64>,
}

impl TrafficMetrics {
    /// Returns the start of the window that ends with the minute of `now`, in milliseconds since 1970.
    #[must_use]
    pub fn window_start(now: Timestamp) -> i64 {
        let window = i64::try_from(WINDOW_MINUTES).unwrap_or(i64::MAX);
        (now.timestamp_millis().div_euclid(MINUTE_MS) + 1 - window) * MINUTE_MS
    }

    /// Sums up the counts of the window that starts at `start`; counts outside it are ignored.
    #[must_use]
    pub fn from_counts(counts: &[RequestCount], start: i64) -> Self {
        let mut per_minute = vec![0; WINDOW_MINUTES];
        let mut buckets = std::collections::BTreeMap::new();
        let (mut total, mut errors, mut last_at) = (0, 0, None);
        for count in counts {
            let at = usize::try_from((count.minute - start) / MINUTE_MS).ok();
            let Some(minute) = at.and_then(|at| per_minute.get_mut(at)) else { continue };
            *minute += count.requests;
            *buckets.entry(count.bucket).or_insert(0) += count.requests;
            total += count.requests;
            errors += count.errors;
            last_at = last_at.max(Some(count.last_at));
        }
        let quantile = |hundredths: u64| {
            let wanted = (total * hundredths).div_ceil(100).max(1);
            let mut seen = 0;
            buckets.iter().find_map(|(bucket, count)| {
                seen += count;
                (seen >= wanted).then(|| bucket_midpoint_ms(*bucket))
            })
        };
        Self { p50_ms: quantile(50), p95_ms: quantile(95), per_minute, total, errors, last_at }
    }

    /// Returns the mean number of requests a minute over the window, rounded to hundredths.
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
    fn the_middle_of_a_bucket_is_within_a_tenth_of_its_durations() {
        for micros in [1_u64, 7, 250, 999, 1_000, 30_000, 5_000_000] {
            let middle = ((f64::from(latency_bucket(micros)) - 0.5) / 4.0).exp2();
            let error = (middle / micros as f64 - 1.0).abs();
            assert!(error < 0.1, "{middle} stands for {micros}");
        }
        assert_eq!(latency_bucket(0), 0);
    }

    #[test]
    fn an_hour_is_summed_up() {
        let start = 10 * MINUTE_MS;
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
            start,
        );
        assert_eq!((metrics.total, metrics.errors, metrics.last_at), (100, 3, Some(69 * MINUTE_MS + 5)));
        assert_eq!((metrics.per_minute[0], metrics.per_minute[59]), (90, 10));
        assert!(metrics.p50_ms.is_some_and(|ms| (0.9..1.1).contains(&ms)), "{metrics:?}");
        assert!(metrics.p95_ms.is_some_and(|ms| (90.0..110.0).contains(&ms)), "{metrics:?}");
        let none = TrafficMetrics::from_counts(&[], start);
        assert_eq!((none.p50_ms, none.total, none.last_at), (None, 0, None));
    }
}
