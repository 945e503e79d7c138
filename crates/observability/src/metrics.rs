//! Metrics of apps: counts, durations and processor time of requests to an app and of its runs.
//!
//! What is measured is added up in memory by app and minute, and written in intervals of several lengths at once, each kept for a
//! time of its own. Each node writes rows of its own, which are merged when they are read.

use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta};
use kernel::{
    StoreError, Timestamp,
    id::{AppId, NodeId, WorkspaceId},
};

use crate::histogram::Histogram;

/// Something that was measured of an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measurement {
    /// A request to the app that has ended.
    Request {
        /// End of the request.
        ending: RequestEnding,
        /// Time from the request to the end of the response.
        duration: Duration,
    },
    /// An attempt of a run that has ended.
    Attempt {
        /// End of the attempt.
        ending: AttemptEnding,
        /// Time that the code took; `None` if the attempt ran no code.
        duration: Option<Duration>,
    },
    /// Processor time of the app's code.
    CpuTime {
        /// Reason for which the code ran.
        workload: Workload,
        /// Processor time.
        used: Duration,
    },
}

/// The end of a request to an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestEnding {
    /// The app's code responded, with a status below 500.
    Responded,
    /// The app has no handler of requests, so nothing of it was seen to work.
    NoHandler,
    /// The app gave no response, or one with a status of 500 or more, or one that broke off.
    Failed,
}

/// The end of an attempt of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptEnding {
    /// The run succeeded.
    Succeeded,
    /// The run failed for good, or the gate refused a request of it.
    Failed,
    /// The attempt failed, and the run goes on with another one.
    Retried,
}

/// Reasons for which app code runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// A request to the app.
    Request,
    /// A run.
    Run,
}

/// Metrics of an app in an interval.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppMetrics {
    /// Requests to the app.
    pub requests: u64,
    /// Requests that failed.
    pub failed_requests: u64,
    /// Runs that have ended.
    pub runs: u64,
    /// Runs that failed or were blocked.
    pub failed_runs: u64,
    /// Attempts that failed and were followed by another one.
    pub retried_attempts: u64,
    /// Processor time for requests, in microseconds.
    pub request_cpu_micros: u64,
    /// Processor time for runs, in microseconds.
    pub run_cpu_micros: u64,
    /// Durations of requests.
    pub request_durations: Histogram,
    /// Durations of attempts that ran code.
    pub run_durations: Histogram,
}

impl AppMetrics {
    /// Adds one measurement.
    pub fn add(&mut self, measurement: Measurement) {
        match measurement {
            Measurement::Request { ending, duration } => {
                add(&mut self.requests, 1);
                add(&mut self.failed_requests, (ending == RequestEnding::Failed).into());
                self.request_durations.add(duration);
            }
            Measurement::Attempt { ending, duration } => {
                match ending {
                    AttemptEnding::Succeeded => add(&mut self.runs, 1),
                    AttemptEnding::Failed => {
                        add(&mut self.runs, 1);
                        add(&mut self.failed_runs, 1);
                    }
                    AttemptEnding::Retried => add(&mut self.retried_attempts, 1),
                }
                if let Some(duration) = duration {
                    self.run_durations.add(duration);
                }
            }
            Measurement::CpuTime { workload, used } => {
                let sum = match workload {
                    Workload::Request => &mut self.request_cpu_micros,
                    Workload::Run => &mut self.run_cpu_micros,
                };
                add(sum, u64::try_from(used.as_micros()).unwrap_or(u64::MAX));
            }
        }
    }

    /// Adds the metrics of another node, app or interval.
    pub fn merge(&mut self, other: &Self) {
        let Self {
            requests,
            failed_requests,
            runs,
            failed_runs,
            retried_attempts,
            request_cpu_micros,
            run_cpu_micros,
            request_durations,
            run_durations,
        } = other;
        add(&mut self.requests, *requests);
        add(&mut self.failed_requests, *failed_requests);
        add(&mut self.runs, *runs);
        add(&mut self.failed_runs, *failed_runs);
        add(&mut self.retried_attempts, *retried_attempts);
        add(&mut self.request_cpu_micros, *request_cpu_micros);
        add(&mut self.run_cpu_micros, *run_cpu_micros);
        self.request_durations.merge(request_durations);
        self.run_durations.merge(run_durations);
    }
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

/// Lengths of the intervals in which metrics are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resolution {
    /// A minute.
    Minute,
    /// A quarter of an hour.
    QuarterHour,
    /// An hour.
    Hour,
}

impl Resolution {
    /// Every resolution, the finest first.
    pub const ALL: [Self; 3] = [Self::Minute, Self::QuarterHour, Self::Hour];

    /// Returns the length of an interval, in minutes; also the number in stores.
    #[must_use]
    pub const fn minutes(self) -> i16 {
        match self {
            Self::Minute => 1,
            Self::QuarterHour => 15,
            Self::Hour => 60,
        }
    }

    /// Returns the resolution with this number of [`minutes`](Self::minutes).
    #[must_use]
    pub fn from_minutes(minutes: i16) -> Option<Self> {
        Self::ALL.into_iter().find(|resolution| resolution.minutes() == minutes)
    }

    /// Returns the length of an interval.
    #[must_use]
    pub fn length(self) -> TimeDelta {
        TimeDelta::minutes(self.minutes().into())
    }

    /// Returns the time for which intervals are kept.
    #[must_use]
    pub fn retention(self) -> TimeDelta {
        match self {
            Self::Minute => TimeDelta::days(3),
            Self::QuarterHour => TimeDelta::days(16),
            Self::Hour => TimeDelta::days(400),
        }
    }

    /// Returns the start of the interval that contains a time.
    #[must_use]
    pub fn start_of(self, time: Timestamp) -> Timestamp {
        let length = self.length().num_seconds();
        let seconds = time.timestamp();
        // Only a time at the very start of what can be represented has no such start.
        DateTime::from_timestamp(seconds - seconds.rem_euclid(length), 0).unwrap_or(time)
    }
}

/// Records what was measured, to be written later.
pub trait MetricsRecorder: Send + Sync {
    /// Adds a measurement to those of the app in the minute of `at`. Does not block.
    fn record(&self, workspace: WorkspaceId, app: AppId, at: Timestamp, measurement: Measurement);
}

/// Metrics of an app in a minute that are not stored yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricsEntry {
    /// Workspace of the app.
    pub workspace: WorkspaceId,
    /// App.
    pub app: AppId,
    /// Start of the minute.
    pub minute: Timestamp,
    /// Metrics.
    pub metrics: AppMetrics,
    /// True if the app's code responded well to a request.
    pub has_responded: bool,
}

/// Stores metrics.
#[async_trait]
pub trait MetricsLog: Send + Sync {
    /// Adds to what `node` has stored, in the intervals of every resolution: all entries, or none if it fails. A node calls this
    /// from one task only. At most [`MAX_ENTRIES`] at once.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn add_metrics(&self, node: NodeId, entries: &[MetricsEntry]) -> Result<(), StoreError>;
}

/// Most entries that are stored at once.
pub const MAX_ENTRIES: usize = 64;

/// A query of an app's metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricsQuery {
    resolution: Resolution,
    from: Timestamp,
    to: Timestamp,
}

impl MetricsQuery {
    /// Most intervals of a query: a little more than 16 days of quarters of an hour.
    pub const MAX_INTERVALS: u16 = 1_600;

    /// Queries so many intervals, the first being the one that contains `from`. Those beyond
    /// [`MAX_INTERVALS`](Self::MAX_INTERVALS) are left out.
    #[must_use]
    pub fn new(resolution: Resolution, from: Timestamp, intervals: u16) -> Self {
        let from = resolution.start_of(from);
        let to = from + resolution.length() * i32::from(intervals.min(Self::MAX_INTERVALS));
        Self { resolution, from, to }
    }

    /// Returns the length of the intervals.
    #[must_use]
    pub fn resolution(self) -> Resolution {
        self.resolution
    }

    /// Returns the start of the first interval.
    #[must_use]
    pub fn from(self) -> Timestamp {
        self.from
    }

    /// Returns the end of the last interval.
    #[must_use]
    pub fn to(self) -> Timestamp {
        self.to
    }
}

/// Metrics of an app in one interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricsInterval {
    /// Start of the interval.
    pub at: Timestamp,
    /// Metrics, of all nodes.
    pub metrics: AppMetrics,
}

/// Reads metrics.
#[async_trait]
pub trait MetricsRead: Send + Sync {
    /// Lists the intervals in which something was measured, oldest first. What nodes measured in the last ten seconds may not be
    /// stored yet.
    ///
    /// # Errors
    /// [`StoreError`] when the store fails.
    async fn app_metrics(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        query: MetricsQuery,
    ) -> Result<Vec<MetricsInterval>, StoreError>;
}

#[cfg(test)]
mod tests {
    use kernel::testing::at;

    use super::*;

    const MILLI: Duration = Duration::from_millis(1);

    #[test]
    fn measurements_are_counted_by_kind() {
        let mut metrics = AppMetrics::default();
        for ending in [RequestEnding::Responded, RequestEnding::Failed, RequestEnding::NoHandler] {
            metrics.add(Measurement::Request { ending, duration: 2 * MILLI });
        }
        for ending in [AttemptEnding::Retried, AttemptEnding::Failed, AttemptEnding::Succeeded] {
            metrics.add(Measurement::Attempt { ending, duration: Some(30 * MILLI) });
        }
        metrics.add(Measurement::Attempt { ending: AttemptEnding::Failed, duration: None });
        for (workload, used) in [(Workload::Run, 5), (Workload::Request, 7), (Workload::Run, 9)] {
            metrics.add(Measurement::CpuTime { workload, used: used * MILLI });
        }
        assert_eq!((metrics.requests, metrics.failed_requests), (3, 1));
        assert_eq!((metrics.runs, metrics.failed_runs, metrics.retried_attempts), (3, 2, 1));
        assert_eq!((metrics.request_cpu_micros, metrics.run_cpu_micros), (7_000, 14_000));
        assert_eq!((metrics.request_durations.count(), metrics.run_durations.count()), (3, 3));

        let mut doubled = metrics.clone();
        doubled.merge(&metrics);
        assert_eq!((doubled.requests, doubled.failed_runs, doubled.run_cpu_micros), (6, 4, 28_000));
        assert_eq!(doubled.run_durations.count(), 6);
        let mut same = AppMetrics::default();
        same.merge(&metrics);
        assert_eq!(same, metrics);
    }

    #[test]
    fn sums_do_not_overflow() {
        let mut metrics = AppMetrics { run_cpu_micros: u64::MAX, ..AppMetrics::default() };
        metrics.add(Measurement::CpuTime { workload: Workload::Run, used: Duration::MAX });
        assert_eq!(metrics.run_cpu_micros, u64::MAX);
    }

    #[test]
    fn intervals_begin_at_multiples_of_their_length() {
        let minute = 60_000;
        for (millis, starts) in [
            (0, [0, 0, 0]),
            (59_999, [0, 0, 0]),
            (61 * minute + 1, [61 * minute, 60 * minute, 60 * minute]),
            (-1, [-minute, -15 * minute, -60 * minute]),
        ] {
            assert_eq!(Resolution::ALL.map(|resolution| resolution.start_of(at(millis))), starts.map(at));
        }
        assert!(Resolution::ALL.iter().all(|it| Resolution::from_minutes(it.minutes()) == Some(*it)));
        assert_eq!(Resolution::from_minutes(2), None);
    }

    #[test]
    fn a_query_is_aligned_and_bounded() {
        let query = MetricsQuery::new(Resolution::Hour, at(3_600_001), u16::MAX);
        assert_eq!(query.from(), at(3_600_000));
        assert_eq!(query.to() - query.from(), TimeDelta::hours(MetricsQuery::MAX_INTERVALS.into()));
        let none = MetricsQuery::new(Resolution::Minute, at(5), 0);
        assert_eq!(none.from(), none.to());
    }
}
