//! Reading what the apps of a workspace are doing.

use application::overview::{OverviewApp, app_status};
use apps::{AppStatus, Category};
use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::{
    authority::{Member, Sharing},
    id::{AppId, UserId},
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, ReadToken},
    http::{error::ApiResult, schemas},
    routes::apps::view::StatusReason,
    state::Api,
};

/// The states of the apps of a workspace that you can view, and their counts.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Overview)]
pub(crate) struct OverviewView {
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    as_of: DateTime<Utc>,
    apps: AppCountsView,
    /// Apps that need somebody first: failing ones, those with questions, those with warnings; then those with runs that are
    /// executing, then the newest.
    #[schema(max_items = 200)]
    items: Vec<OverviewItem>,
    /// Number of runs that are executing.
    running: u64,
    /// Number of questions of runs that wait for an answer.
    waiting_approvals: u64,
    /// Number of open dead letters.
    dead_letters: u64,
}

/// Number of apps by state. Each app is in one state.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AppCounts)]
pub(crate) struct AppCountsView {
    total: u64,
    draft: u64,
    building: u64,
    healthy: u64,
    warning: u64,
    failing: u64,
    paused: u64,
    /// Healthy ones of which no run or response ended well in the last seven days.
    unobserved: u64,
}

/// An app of the overview.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OverviewApp)]
pub(crate) struct OverviewItem {
    id: AppId,
    name: String,
    slug: String,
    archetype: String,
    #[schema(value_type = schemas::apps::Category)]
    category: Category,
    sharing: Sharing,
    #[schema(value_type = schemas::apps::AppStatus)]
    status: AppStatus,
    /// Reasons for which the app is not healthy, the gravest first.
    status_reasons: Vec<StatusReason>,
    /// Time of the last run or response that ended well, to the minute; null if none is known.
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    observed_at: Option<DateTime<Utc>>,
    /// Number of questions of its runs that wait for an answer.
    waiting_approvals: u64,
    /// Number of its open dead letters.
    dead_letters: u64,
    /// Number of its runs that are executing.
    running: u64,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    created_by: UserId,
}

impl From<OverviewApp> for OverviewItem {
    fn from(OverviewApp { app, running, health }: OverviewApp) -> Self {
        Self {
            status: app_status(&app, &health),
            status_reasons: health.reasons().into_iter().map(StatusReason::from).collect(),
            observed_at: health.observed_at,
            waiting_approvals: health.waiting_approvals,
            dead_letters: health.open_dead_letters,
            running,
            id: app.id,
            name: app.name,
            slug: app.slug,
            archetype: app.archetype,
            category: app.category,
            sharing: app.sharing,
            created_at: app.created_at,
            created_by: app.created_by,
        }
    }
}

/// Read the overview of a workspace
///
/// The numbers are about the apps that you can view. Read it again when the event stream reports a run or a change.
#[utoipa::path(get, path = "/v1/workspaces/{ws}/overview", tag = "workspaces", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), responses((status = 200, body = OverviewView)))]
pub(crate) async fn read_overview(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<ReadToken, Member>,
) -> ApiResult<Json<OverviewView>> {
    let overview = api.overview(&member, ctx.now).await?;
    let counts = overview.counts;
    Ok(Json(OverviewView {
        as_of: ctx.now,
        apps: AppCountsView {
            total: counts.total(),
            draft: counts.draft,
            building: counts.building,
            healthy: counts.healthy,
            warning: counts.warning,
            failing: counts.failing,
            paused: counts.paused,
            unobserved: counts.unobserved,
        },
        items: overview.apps.into_iter().map(OverviewItem::from).collect(),
        running: overview.running,
        waiting_approvals: overview.waiting_approvals,
        dead_letters: overview.dead_letters,
    }))
}
