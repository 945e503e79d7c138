//! The limits of each plan; the only table of these numbers.

use serde::{Deserialize, Serialize};

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

/// The limits of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanLimits {
    /// Runs started in a calendar month (UTC); `None` for no limit.
    pub runs_per_month: Option<u64>,
    /// Days for which a finished run is kept; `None` for ever.
    pub run_retention_days: Option<u32>,
    /// Bytes that one app may log on a day (UTC) while it answers HTTP requests.
    pub log_bytes_per_day: u64,
    /// Bytes that the rows of one backend project may take, indexes included.
    pub stored_bytes_per_project: u64,
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
        let (runs_per_month, run_retention_days, log_mib_per_day, stored_mib) = match self {
            Self::Free => (Some(1_000), Some(30), 10, 100),
            Self::Maker => (Some(20_000), Some(60), 50, 1 << 10),
            Self::Team => (Some(200_000), Some(90), 100, 8 << 10),
            Self::Business => (Some(5_000_000), Some(365), 500, 50 << 10),
            Self::Sovereign => (None, None, 500, 50 << 10),
        };
        PlanLimits {
            runs_per_month,
            run_retention_days,
            log_bytes_per_day: log_mib_per_day << 20,
            stored_bytes_per_project: stored_mib << 20,
        }
    }
}
