//! The overview of a workspace: what its apps are doing, and which of them need somebody.
//!
//! The state of an app follows from what happened to it (`observability::health`), here and nowhere else, so that every
//! list and page says the same of it.

use std::{cmp::Reverse, collections::HashMap};

use apps::{App, AppStatus};
use kernel::{
    Timestamp,
    authority::Member,
    id::AppId,
    page::{Page, PageRequest},
};
use observability::{
    AppHealth,
    health::{AppCount, NotedApp, OVERVIEW_APPS},
};

use crate::{Application, Problem};

/// Returns the state of an app: paused before draft before what happened to it.
#[must_use]
pub fn app_status(app: &App, health: &AppHealth) -> AppStatus {
    refine(app.status(), health)
}

/// Returns the state of an app that has `own` by itself.
#[must_use]
pub fn refine(own: AppStatus, health: &AppHealth) -> AppStatus {
    match own {
        AppStatus::Healthy if health.is_failing() => AppStatus::Failing,
        AppStatus::Healthy if health.has_warning() => AppStatus::Warning,
        own => own,
    }
}

/// Number of apps by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AppCounts {
    /// Apps without a version.
    pub draft: u64,
    /// Apps of which a version is being built.
    pub building: u64,
    /// Apps of which nothing bad is known.
    pub healthy: u64,
    /// Apps with open dead letters or runs that were blocked today.
    pub warning: u64,
    /// Apps whose runs fail repeatedly.
    pub failing: u64,
    /// Paused apps.
    pub paused: u64,
    /// Healthy apps of which nothing good was observed for seven days either.
    pub unobserved: u64,
}

impl AppCounts {
    /// Returns the number of all apps, each of which is in one state.
    #[must_use]
    pub fn total(&self) -> u64 {
        let Self { draft, building, healthy, warning, failing, paused, unobserved: _ } = self;
        draft + building + healthy + warning + failing + paused
    }
}

/// An app of an overview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverviewApp {
    /// The app.
    pub app: App,
    /// Number of its runs that are executing.
    pub running: u64,
    /// Facts about it.
    pub health: AppHealth,
}

/// The states of the apps of a workspace that a person can view, and their counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overview {
    /// Number of apps by state.
    pub counts: AppCounts,
    /// Apps, at most [`OVERVIEW_APPS`]: those that need somebody, then those with runs, then the newest.
    pub apps: Vec<OverviewApp>,
    /// Runs that are executing.
    pub running: u64,
    /// Questions that wait for an answer.
    pub waiting_approvals: u64,
    /// Open dead letters.
    pub dead_letters: u64,
}

impl Application {
    /// Returns what the apps of a workspace are doing, of those that the member can view.
    ///
    /// # Errors
    /// [`Problem`] if the store fails.
    pub async fn overview(&self, member: &Member, now: Timestamp) -> Result<Overview, Problem> {
        let (workspace, visible) = (member.workspace(), member.visibility());
        let found = self.store().workspace_health(workspace, visible, now).await?;
        let counts = count_apps(&found.counts, &found.noted, now);
        let sum = |number: fn(&NotedApp) -> u64| found.noted.iter().map(number).sum();
        let (running, waiting_approvals) = (sum(|app| app.running), sum(|app| app.health.waiting_approvals));
        let dead_letters = sum(|app| app.health.open_dead_letters);

        let mut noted = found.noted;
        noted.sort_by_key(urgency);
        noted.truncate(OVERVIEW_APPS);
        let ids: Vec<AppId> = noted.iter().map(|noted| noted.app).collect();
        let mut by_id: HashMap<AppId, App> =
            self.store().apps_by_id(workspace, &ids).await?.into_iter().map(|app| (app.id, app)).collect();
        let mut apps: Vec<OverviewApp> = noted
            .into_iter()
            .filter_map(|noted| {
                let app = by_id.remove(&noted.app)?;
                Some(OverviewApp { app, running: noted.running, health: noted.health })
            })
            .collect();
        if apps.len() < OVERVIEW_APPS {
            let page = PageRequest::first(OVERVIEW_APPS as u32);
            let newest = self.store().apps(workspace, member.user(), visible, page).await?;
            let newest = Page::from_limit_plus_one(newest, page.limit, |(app, _)| app.id).items;
            let newest = newest.into_iter().map(|(app, _)| app).filter(|app| !ids.contains(&app.id));
            let newest: Vec<App> = newest.take(OVERVIEW_APPS - apps.len()).collect();
            let ids: Vec<AppId> = newest.iter().map(|app| app.id).collect();
            let mut health = self.store().app_health(workspace, &ids, now).await?;
            apps.extend(newest.into_iter().map(|app| {
                let health = health.remove(&app.id).unwrap_or_default();
                OverviewApp { app, running: 0, health }
            }));
        }
        Ok(Overview { counts, apps, running, waiting_approvals, dead_letters })
    }

    /// Returns the facts about apps of one workspace, for each of them.
    ///
    /// # Errors
    /// [`Problem`] if the store fails.
    pub async fn health_of(
        &self,
        member: &Member,
        apps: &[AppId],
        now: Timestamp,
    ) -> Result<HashMap<AppId, AppHealth>, Problem> {
        Ok(self.store().app_health(member.workspace(), apps, now).await?)
    }
}

/// Counts apps by state: all of them by what they are by themselves, less those about which there is more to say.
fn count_apps(counts: &[AppCount], noted: &[NotedApp], now: Timestamp) -> AppCounts {
    let mut sums = AppCounts::default();
    for group in counts {
        let own = AppStatus::of(group.is_paused, group.is_draft);
        add(&mut sums, own, group.is_observed, group.count);
    }
    for app in noted {
        let own = AppStatus::of(app.is_paused, app.is_draft);
        let status = refine(own, &app.health);
        if status != own {
            let is_observed = app.health.is_observed(now);
            sums.healthy = sums.healthy.saturating_sub(1);
            sums.unobserved = sums.unobserved.saturating_sub((!is_observed).into());
            add(&mut sums, status, is_observed, 1);
        }
    }
    sums
}

fn add(sums: &mut AppCounts, status: AppStatus, is_observed: bool, count: u64) {
    match status {
        AppStatus::Draft => sums.draft += count,
        AppStatus::Building => sums.building += count,
        AppStatus::Healthy => {
            sums.healthy += count;
            if !is_observed {
                sums.unobserved += count;
            }
        }
        AppStatus::Warning => sums.warning += count,
        AppStatus::Failing => sums.failing += count,
        AppStatus::Paused => sums.paused += count,
    }
}

/// Order of the apps of an overview: what fails, what waits for a person, what warns, what runs; then the newest.
fn urgency(noted: &NotedApp) -> (Reverse<u8>, Reverse<u64>, Reverse<AppId>) {
    let status = refine(AppStatus::of(noted.is_paused, noted.is_draft), &noted.health);
    let (rank, number) = match status {
        AppStatus::Failing => (4, noted.health.failures_in_a_row),
        _ if noted.health.waiting_approvals > 0 => (3, noted.health.waiting_approvals),
        AppStatus::Warning => (2, noted.health.open_dead_letters),
        _ if noted.running > 0 => (1, noted.running),
        _ => (0, 0),
    };
    (Reverse(rank), Reverse(number), Reverse(noted.app))
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use kernel::testing::{at, id};

    use super::*;

    fn noted(number: u128, health: AppHealth) -> NotedApp {
        NotedApp { app: id(number), is_paused: false, is_draft: false, running: 0, health }
    }

    fn now() -> Timestamp {
        at(1_000_000_000)
    }

    #[test]
    fn blocked_runs_alone_warn_and_repeated_failures_fail() {
        let blocked = AppHealth { blocked_runs: 1, ..AppHealth::default() };
        let failing = AppHealth { blocked_runs: 14, failures_in_a_row: 14, ..AppHealth::default() };
        assert_eq!(refine(AppStatus::Healthy, &blocked), AppStatus::Warning);
        assert_eq!(refine(AppStatus::Healthy, &failing), AppStatus::Failing);
        assert_eq!(refine(AppStatus::Paused, &failing), AppStatus::Paused);
        assert_eq!(refine(AppStatus::Draft, &failing), AppStatus::Draft);
    }

    #[test]
    fn each_app_is_counted_in_one_state() {
        let group =
            |is_paused, is_draft, is_observed, count| AppCount { is_paused, is_draft, is_observed, count };
        let counts = [
            group(false, false, true, 5),
            group(false, false, false, 4),
            group(true, false, true, 2),
            group(true, true, false, 1),
            group(false, true, false, 3),
        ];
        let seen = Some(now() - TimeDelta::days(1));
        let paused = NotedApp {
            is_paused: true,
            ..noted(3, AppHealth { failures_in_a_row: 3, observed_at: seen, ..AppHealth::default() })
        };
        let noted = [
            noted(1, AppHealth { failing_automations: 1, observed_at: seen, ..AppHealth::default() }),
            noted(2, AppHealth { open_dead_letters: 7, ..AppHealth::default() }),
            paused,
            noted(4, AppHealth { waiting_approvals: 1, observed_at: seen, ..AppHealth::default() }),
        ];
        let sums = count_apps(&counts, &noted, now());
        let expected =
            AppCounts { draft: 3, building: 0, healthy: 7, warning: 1, failing: 1, paused: 3, unobserved: 3 };
        assert_eq!(sums, expected);
    }

    #[test]
    fn what_needs_somebody_comes_first() {
        let mut apps = [
            NotedApp { running: 9, ..noted(5, AppHealth::default()) },
            noted(4, AppHealth { open_dead_letters: 100, ..AppHealth::default() }),
            noted(3, AppHealth { waiting_approvals: 1, ..AppHealth::default() }),
            noted(2, AppHealth { failures_in_a_row: 3, ..AppHealth::default() }),
            noted(1, AppHealth { failures_in_a_row: 30, ..AppHealth::default() }),
        ];
        apps.sort_by_key(urgency);
        assert_eq!(apps.map(|app| app.app), [id(1), id(2), id(3), id(4), id(5)]);
    }
}
