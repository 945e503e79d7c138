//! What each plan allows; the one table of these numbers.

use std::str::FromStr;

use kernel::Problem;
use serde::{Deserialize, Serialize};

/// A workspace's plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Plan {
    /// To try things out.
    Free,
    /// One person.
    Maker,
    /// A few people.
    Team,
    /// Many people.
    Business,
    /// Nothing is limited but what strangers could fill a disk with: whoever runs the machine decides. What a self-hosted
    /// workspace gets.
    Sovereign,
}

/// What a plan allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanLimits {
    /// Runs started in a calendar month (UTC); none for no limit.
    pub runs_per_month: Option<u64>,
    /// How many days a finished run is kept; none for ever.
    pub run_retention_days: Option<u32>,
    /// Bytes of log that the answers of one app over HTTP may leave on a day (UTC).
    pub log_bytes_per_day: u64,
    /// Bytes that the rows of one backend project may take, with their indexes.
    pub stored_bytes_per_project: u64,
}

impl Plan {
    /// Every plan, the smallest first.
    pub const ALL: [Self; 5] = [Self::Free, Self::Maker, Self::Team, Self::Business, Self::Sovereign];

    /// The numbers.
    #[must_use]
    pub fn limits(self) -> PlanLimits {
        let (runs_per_month, keep_runs_days, log_mib_per_day, stored_mib) = match self {
            Self::Free => (Some(1_000), Some(30), 10, 100),
            Self::Maker => (Some(20_000), Some(60), 50, 1 << 10),
            Self::Team => (Some(200_000), Some(90), 100, 8 << 10),
            Self::Business => (Some(5_000_000), Some(365), 500, 50 << 10),
            Self::Sovereign => (None, None, 500, 50 << 10),
        };
        PlanLimits {
            runs_per_month,
            run_retention_days: keep_runs_days,
            log_bytes_per_day: log_mib_per_day << 20,
            stored_bytes_per_project: stored_mib << 20,
        }
    }

    /// The name on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Free => "free",
            Self::Maker => "maker",
            Self::Team => "team",
            Self::Business => "business",
            Self::Sovereign => "sovereign",
        }
    }
}

impl FromStr for Plan {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        Self::ALL
            .into_iter()
            .find(|plan| plan.as_str() == text)
            .ok_or_else(|| Problem::invalid_field("plan", "must be free, maker, team, business or sovereign"))
    }
}
