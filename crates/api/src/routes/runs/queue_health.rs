//! Reading the state of a workspace's queue.

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::{authority::Member, id::WorkspaceId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, ReadToken},
    http::error::ApiResult,
    state::Api,
};

/// The state of a workspace's queue.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QueueHealthView {
    workspace_id: WorkspaceId,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    as_of: DateTime<Utc>,
    /// Number of runs that wait and could start now.
    queued: u64,
    /// Number of runs that wait for a time: delayed, or to be retried.
    put_off: u64,
    running: u64,
    waiting_approval: u64,
    /// Time since which the oldest queued run could have started.
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    oldest_queued_at: Option<DateTime<Utc>>,
    finished_last_hour: FinishedLastHour,
    dead_letters_open: u64,
}

/// Number of runs that finished in the last hour.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FinishedLastHour {
    succeeded: u64,
    failed: u64,
    blocked: u64,
}

/// Read the state of a workspace's queue
#[utoipa::path(get, path = "/v1/workspaces/{ws}/queue-health", tag = "runs", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), responses((status = 200, body = QueueHealthView)))]
pub(crate) async fn read_queue_health(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<ReadToken, Member>,
) -> ApiResult<Json<QueueHealthView>> {
    let health = api.store().queue_health(member.workspace(), ctx.now).await?;
    let dead_letters_open = api.store().count_open_dead_letters(member.workspace()).await?;
    Ok(Json(QueueHealthView {
        workspace_id: member.workspace(),
        as_of: ctx.now,
        queued: health.queued,
        put_off: health.delayed,
        running: health.running,
        waiting_approval: health.waiting_approval,
        oldest_queued_at: health.oldest_queued_at,
        finished_last_hour: FinishedLastHour {
            succeeded: health.succeeded,
            failed: health.failed,
            blocked: health.blocked,
        },
        dead_letters_open,
    }))
}
