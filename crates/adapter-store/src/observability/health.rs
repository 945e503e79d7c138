//! Health of apps. Every count comes from an index of what is open, waits, or was blocked today; none is made over runs.

use std::collections::{BTreeSet, HashMap};

use ::observability::{
    AppHealth, HealthRead,
    health::{AppCount, BLOCKED_WINDOW, NotedApp, OBSERVATION_WINDOW, WorkspaceHealth},
};
use ::runs::{approvals::ApprovalState, dead_letters::DeadLetterState};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    authority::Visibility,
    id::{AppId, WorkspaceId, kind},
};
use sea_orm::{
    ColumnTrait, Condition, DeriveActiveEnum, EntityTrait, EnumIter, FromQueryResult, JoinType,
    QueryFilter as _, QuerySelect as _, QueryTrait as _, RelationTrait as _, Select,
    sea_query::{Asterisk, Expr, ExprTrait as _, Func, SelectStatement, UnionType},
};
use tokio::try_join;

use crate::{
    apps::visible_apps,
    convert::RowContext,
    entity::{
        app_blocked_runs, app_failures, app_observations, approvals, apps, automation_failures,
        column::{DbId, DbText, DbTime},
        dead_letters,
        run_queue::{self, QueueState},
        runs,
    },
    error::OrStoreError as _,
    group_commit::{ALERT_AFTER_FAILURES, quarter_of},
    query::{self, literal},
    sql::pad_to_power_of_two,
    store::Store,
};

/// Fact about an app that is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i32", db_type = "Integer")]
enum Fact {
    FailuresInARow = 0,
    FailingAutomations = 1,
    OpenDeadLetters = 2,
    BlockedRuns = 3,
    WaitingApprovals = 4,
    /// Milliseconds since 1970.
    ObservedAt = 5,
}

/// A number about an app.
#[derive(FromQueryResult)]
struct NumberRow {
    fact: Fact,
    app_id: Option<DbId<kind::App>>,
    number: i64,
}

/// Number of runs of an app that are executing.
#[derive(FromQueryResult)]
struct RunningRow {
    app_id: DbId<kind::App>,
    count: i64,
}

/// Number of apps with the same properties.
#[derive(FromQueryResult)]
struct AppCountRow {
    is_paused: bool,
    is_draft: bool,
    is_observed: bool,
    count: i64,
}

/// An app as the overview counts it.
#[derive(FromQueryResult)]
struct AppRow {
    id: DbId<kind::App>,
    paused: bool,
    current_version_id: Option<DbId<kind::Version>>,
    in_review: bool,
    observed_at: Option<DbTime>,
}

/// Selects the apps of a workspace that a person can view, with the time at which each was observed.
fn observed_apps(workspace: WorkspaceId, visible: Visibility) -> Select<apps::Entity> {
    apps::Entity::find()
        .join(JoinType::LeftJoin, apps::Relation::Observation.def())
        .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
        .filter(apps::Column::DeletedAt.is_null())
        .filter(visible_apps(visible))
}

/// Selects a number by app, of all apps that a query finds or of some.
fn numbers_by_app<C>(
    fact: Fact,
    rows: Select<C::EntityName>,
    app: C,
    number: Expr,
    only: Option<&[AppId]>,
) -> SelectStatement
where
    C: ColumnTrait<EntityName: EntityTrait<Column = C>>,
{
    rows.apply_if(only, |query, apps| query.filter(app.is_in(apps.iter().copied().map(DbId))))
        .group_by(app)
        .select_only()
        .expr_as(literal(fact), "fact")
        .column_as(app, "app_id")
        .expr_as(number, "number")
        .into_query()
}

fn count_rows() -> Expr {
    Expr::from(Func::count(Expr::col(Asterisk)))
}

fn failures_in_a_row(workspace: WorkspaceId, only: Option<&[AppId]>) -> SelectStatement {
    use app_failures::Column;
    let in_a_row = Expr::col((app_failures::Entity, Column::InARow));
    let rows = app_failures::Entity::find()
        .filter(Column::WorkspaceId.eq(DbId(workspace)))
        .filter(in_a_row.gte(literal(ALERT_AFTER_FAILURES)));
    numbers_by_app(Fact::FailuresInARow, rows, Column::AppId, Column::InARow.max(), only)
}

fn failing_automations(workspace: WorkspaceId, only: Option<&[AppId]>) -> SelectStatement {
    use automation_failures::Column;
    let in_a_row = Expr::col((automation_failures::Entity, Column::InARow));
    let rows = automation_failures::Entity::find()
        // The count of an automation that was deleted stays.
        .join(JoinType::InnerJoin, automation_failures::Relation::Automation.def())
        .filter(Column::WorkspaceId.eq(DbId(workspace)))
        .filter(in_a_row.gte(literal(ALERT_AFTER_FAILURES)));
    numbers_by_app(Fact::FailingAutomations, rows, Column::AppId, count_rows(), only)
}

fn open_dead_letters(workspace: WorkspaceId, only: Option<&[AppId]>) -> SelectStatement {
    use dead_letters::Column;
    let state = Expr::col((dead_letters::Entity, Column::State));
    let rows = dead_letters::Entity::find()
        .filter(Column::WorkspaceId.eq(DbId(workspace)))
        .filter(state.eq(literal(DbText(DeadLetterState::Open))));
    numbers_by_app(Fact::OpenDeadLetters, rows, Column::AppId, count_rows(), only)
}

fn blocked_runs(workspace: WorkspaceId, only: Option<&[AppId]>, now: Timestamp) -> SelectStatement {
    use app_blocked_runs::Column;
    let rows = app_blocked_runs::Entity::find()
        .filter(Column::WorkspaceId.eq(DbId(workspace)))
        .filter(Column::Quarter.gt(quarter_of(now - BLOCKED_WINDOW)));
    let runs = Func::cast_as(Column::Runs.sum(), "bigint");
    numbers_by_app(Fact::BlockedRuns, rows, Column::AppId, runs.into(), only)
}

fn waiting_approvals(workspace: WorkspaceId, only: Option<&[AppId]>) -> SelectStatement {
    use approvals::Column;
    let state = Expr::col((approvals::Entity, Column::State));
    let rows = approvals::Entity::find()
        .filter(Column::WorkspaceId.eq(DbId(workspace)))
        .filter(state.eq(literal(DbText(ApprovalState::Waiting))));
    numbers_by_app(Fact::WaitingApprovals, rows, Column::AppId, count_rows(), only)
}

fn observations(workspace: WorkspaceId, apps: &[AppId]) -> SelectStatement {
    use app_observations::Column;
    let rows = app_observations::Entity::find().filter(Column::WorkspaceId.eq(DbId(workspace)));
    // Each has one.
    numbers_by_app(Fact::ObservedAt, rows, Column::AppId, Column::ObservedAt.max(), Some(apps))
}

impl Store {
    /// Returns the facts about the apps of a workspace, or about some, by one statement. Those about all say nothing of when they
    /// were observed. Apps about which there is nothing to say are absent.
    async fn health_facts(
        &self,
        workspace: WorkspaceId,
        only: Option<&[AppId]>,
        now: Timestamp,
    ) -> Result<HashMap<AppId, AppHealth>, StoreError> {
        let padded = only.map(|apps| pad_to_power_of_two(apps.to_vec()));
        let only = padded.as_deref();
        let mut query = failures_in_a_row(workspace, only);
        let others = [
            failing_automations(workspace, only),
            open_dead_letters(workspace, only),
            blocked_runs(workspace, only, now),
            waiting_approvals(workspace, only),
        ];
        let observations = only.map(|apps| observations(workspace, apps));
        query.unions(others.into_iter().chain(observations).map(|query| (UnionType::All, query)));

        let mut facts: HashMap<AppId, AppHealth> = HashMap::new();
        for NumberRow { fact, app_id, number } in query::fetch_all(&query, self.read()).await? {
            let Some(DbId(app)) = app_id else { continue };
            let row = RowContext::new("apps", app);
            let health = facts.entry(app).or_default();
            match fact {
                Fact::FailuresInARow => health.failures_in_a_row = row.number(number)?,
                Fact::FailingAutomations => health.failing_automations = row.number(number)?,
                Fact::OpenDeadLetters => health.open_dead_letters = row.number(number)?,
                Fact::BlockedRuns => health.blocked_runs = row.number(number)?,
                Fact::WaitingApprovals => health.waiting_approvals = row.number(number)?,
                Fact::ObservedAt => health.observed_at = Some(row.timestamp(number)?),
            }
        }
        Ok(facts)
    }

    /// Returns the number of runs that are executing, by app.
    async fn running_by_app(&self, workspace: WorkspaceId) -> Result<HashMap<AppId, u64>, StoreError> {
        let state = Expr::col((run_queue::Entity, run_queue::Column::State));
        let leased = run_queue::Entity::find()
            .filter(run_queue::Column::WorkspaceId.eq(DbId(workspace)))
            // What is leased is no more than what nodes are at work at.
            .filter(state.eq(literal(QueueState::Leased)))
            .select_only()
            .column(run_queue::Column::RunId)
            .into_query();
        let counts: Vec<RunningRow> = runs::Entity::find()
            .filter(runs::Column::Id.in_subquery(leased))
            .group_by(runs::Column::AppId)
            .select_only()
            .column(runs::Column::AppId)
            .expr_as(count_rows(), "count")
            .into_model()
            .all(self.read())
            .await
            .or_store_error()?;
        let counts = counts.into_iter().map(|row| {
            let app = row.app_id.0;
            Ok((app, RowContext::new("apps", app).number(row.count)?))
        });
        counts.collect()
    }

    /// Counts the apps of a workspace that a person can view, by what they are by themselves.
    async fn count_apps(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        now: Timestamp,
    ) -> Result<Vec<AppCount>, StoreError> {
        let is_observed = app_observations::Column::ObservedAt.gt(DbTime(now - OBSERVATION_WINDOW));
        let is_observed = Expr::case(is_observed, true).finally(false);
        let is_draft = apps::Column::CurrentVersionId.is_null().or(apps::Column::InReview.eq(true));
        let is_draft = Expr::case(is_draft, true).finally(false);
        let counts = observed_apps(workspace, visible)
            .select_only()
            .column_as(apps::Column::Paused, "is_paused")
            .expr_as(is_draft, "is_draft")
            .expr_as(is_observed, "is_observed")
            .expr_as(count_rows(), "count")
            .group_by(Expr::col("is_paused"))
            .group_by(Expr::col("is_draft"))
            .group_by(Expr::col("is_observed"))
            .into_model::<AppCountRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        let context = RowContext::new("apps", workspace);
        let counts = counts.into_iter().map(|row| {
            Ok(AppCount {
                is_paused: row.is_paused,
                is_draft: row.is_draft,
                is_observed: row.is_observed,
                count: context.number(row.count)?,
            })
        });
        counts.collect()
    }
}

#[span_macros::traced]
#[async_trait]
impl HealthRead for Store {
    async fn app_health(
        &self,
        workspace: WorkspaceId,
        apps: &[AppId],
        now: Timestamp,
    ) -> Result<HashMap<AppId, AppHealth>, StoreError> {
        if apps.is_empty() {
            return Ok(HashMap::new());
        }
        let mut facts = self.health_facts(workspace, Some(apps), now).await?;
        for app in apps {
            facts.entry(*app).or_default();
        }
        Ok(facts)
    }

    async fn workspace_health(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        now: Timestamp,
    ) -> Result<WorkspaceHealth, StoreError> {
        // None needs another's answer, and each may take as long as all the others.
        let (mut facts, running, counts) = try_join!(
            self.health_facts(workspace, None, now),
            self.running_by_app(workspace),
            self.count_apps(workspace, visible, now),
        )?;
        let noted: BTreeSet<AppId> = facts.keys().chain(running.keys()).copied().collect();
        if noted.is_empty() {
            return Ok(WorkspaceHealth { counts, noted: Vec::new() });
        }
        let found = observed_apps(workspace, visible)
            .filter(Condition::all().add(apps::Column::Id.is_in(noted.into_iter().map(DbId))))
            .select_only()
            .columns([
                apps::Column::Id,
                apps::Column::Paused,
                apps::Column::CurrentVersionId,
                apps::Column::InReview,
            ])
            .column(app_observations::Column::ObservedAt)
            .into_model::<AppRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        let noted = found.into_iter().map(|row| {
            let app = row.id.0;
            let health = facts.remove(&app).unwrap_or_default();
            NotedApp {
                app,
                is_paused: row.paused,
                is_draft: row.in_review || row.current_version_id.is_none(),
                running: running.get(&app).copied().unwrap_or_default(),
                health: AppHealth { observed_at: row.observed_at.map(DbTime::into_inner), ..health },
            }
        });
        Ok(WorkspaceHealth { counts, noted: noted.collect() })
    }
}
