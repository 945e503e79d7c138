//! The limits of each plan; the only table of these numbers.

use serde::{Deserialize, Serialize};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// A workspace's plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Plan {
    /// For trying Qala out.
    Free,
    /// For one person.
    Maker,
    /// For a few people.
    Team,
    /// For many people.
    Business,
    /// For self-hosted workspaces: limits only what strangers could fill a disk with. The operator decides the rest.
    Sovereign,
}

/// A limit of what is used in a calendar month (UTC).
///
/// Up to a tenth more than the limit is used without consequences, so that a workspace that reaches its limit on the last
/// day of the month does not stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonthlyLimit(Option<u64>);

impl MonthlyLimit {
    /// Returns the limit; `None` for no limit.
    #[must_use]
    pub fn limit(self) -> Option<u64> {
        self.0
    }

    /// Returns 110 % of the limit, rounded down, beyond which nothing is used; `None` for no limit.
    #[must_use]
    pub fn grace_limit(self) -> Option<u64> {
        self.0.map(|limit| limit.saturating_add(limit / 10))
    }
}

/// The limits of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanLimits {
    /// Runs that start in a calendar month (UTC).
    pub runs: MonthlyLimit,
    /// Requests to apps in a calendar month (UTC).
    pub requests: MonthlyLimit,
    /// Credits for calls of AI models in a calendar month (UTC).
    pub ai_credits: MonthlyLimit,
    /// Runs that execute at once; `None` for as many as the server has places.
    pub concurrent_runs: Option<u32>,
    /// Host names of its own that a workspace may point at its apps; `None` for no limit.
    pub hostnames: Option<u32>,
    /// Days for which a finished run is kept; `None` for ever.
    pub run_retention_days: Option<u32>,
    /// Bytes that one app may log on a day (UTC) while it answers HTTP requests.
    pub log_bytes_per_day: u64,
    /// Bytes that the rows of one backend project may take, indexes included.
    pub stored_bytes_per_project: u64,
    /// Bytes of code that a workspace may store: versions, drafts and imports.
    pub stored_code_bytes: u64,
}

kernel::names! {
    Plan {
        Free = "free",
        Maker = "maker",
        Team = "team",
        Business = "business",
        Sovereign = "sovereign",
    }
}

impl Plan {
    /// Returns the limits of this plan.
    #[must_use]
    pub fn limits(self) -> PlanLimits {
        match self {
            Self::Free => PlanLimits {
                runs: MonthlyLimit(Some(1_000)),
                requests: MonthlyLimit(Some(100_000)),
                ai_credits: MonthlyLimit(Some(100)),
                concurrent_runs: Some(2),
                hostnames: Some(0),
                run_retention_days: Some(30),
                log_bytes_per_day: 10 * MIB,
                stored_bytes_per_project: 100 * MIB,
                stored_code_bytes: 50 * MIB,
            },
            Self::Maker => PlanLimits {
                runs: MonthlyLimit(Some(20_000)),
                requests: MonthlyLimit(Some(1_000_000)),
                ai_credits: MonthlyLimit(Some(1_000)),
                concurrent_runs: Some(5),
                hostnames: Some(3),
                run_retention_days: Some(60),
                log_bytes_per_day: 50 * MIB,
                stored_bytes_per_project: GIB,
                stored_code_bytes: 250 * MIB,
            },
            Self::Team => PlanLimits {
                runs: MonthlyLimit(Some(200_000)),
                requests: MonthlyLimit(Some(10_000_000)),
                ai_credits: MonthlyLimit(Some(10_000)),
                concurrent_runs: Some(20),
                hostnames: Some(20),
                run_retention_days: Some(90),
                log_bytes_per_day: 100 * MIB,
                stored_bytes_per_project: 8 * GIB,
                stored_code_bytes: GIB,
            },
            Self::Business => PlanLimits {
                runs: MonthlyLimit(Some(5_000_000)),
                requests: MonthlyLimit(Some(100_000_000)),
                ai_credits: MonthlyLimit(Some(100_000)),
                concurrent_runs: Some(100),
                hostnames: Some(200),
                run_retention_days: Some(365),
                log_bytes_per_day: 500 * MIB,
                stored_bytes_per_project: 50 * GIB,
                stored_code_bytes: 5 * GIB,
            },
            Self::Sovereign => PlanLimits {
                runs: MonthlyLimit(None),
                requests: MonthlyLimit(None),
                ai_credits: MonthlyLimit(None),
                concurrent_runs: None,
                hostnames: None,
                run_retention_days: None,
                log_bytes_per_day: 500 * MIB,
                stored_bytes_per_project: 50 * GIB,
                stored_code_bytes: 20 * GIB,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_plan_allows_more_of_everything() {
        let growing = |plan: Plan| {
            let limits = plan.limits();
            let of = |limit: Option<u64>| limit.unwrap_or(u64::MAX);
            [
                of(limits.runs.limit()),
                of(limits.requests.limit()),
                of(limits.ai_credits.limit()),
                of(limits.concurrent_runs.map(u64::from)),
                of(limits.hostnames.map(u64::from)),
                of(limits.run_retention_days.map(u64::from)),
                limits.log_bytes_per_day,
                limits.stored_bytes_per_project,
                limits.stored_code_bytes,
            ]
        };
        for plans in Plan::ALL.windows(2) {
            let [smaller, larger] = [growing(plans[0]), growing(plans[1])];
            assert!(smaller.iter().zip(&larger).all(|(smaller, larger)| smaller <= larger), "{plans:?}");
        }
    }

    #[test]
    fn a_tenth_more_than_the_limit_is_granted() {
        assert_eq!(Plan::Free.limits().runs.grace_limit(), Some(1_100));
        assert_eq!(Plan::Sovereign.limits().runs.grace_limit(), None);
        assert_eq!(MonthlyLimit(Some(u64::MAX)).grace_limit(), Some(u64::MAX));
    }
}
