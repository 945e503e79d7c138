//! Marking notifications as read.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::authority::Member;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::view::count_unread;
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// The notifications that you have seen.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct MarkNotificationsRead {
    /// The `seq` of the newest one that you have seen. A smaller number than before changes nothing.
    #[schema(minimum = 1, maximum = 9_007_199_254_740_991_i64)]
    up_to: u64,
}

/// Notifications that you have not read.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct UnreadNotifications {
    /// Number of them, of the newest 1,000 since you joined; at most 100.
    #[schema(maximum = 100)]
    unread: u32,
}

/// Mark notifications as read
///
/// It concerns nobody but you.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/notifications/read", tag = "observability",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")),
    request_body(content = MarkNotificationsRead, example = json!({"upTo": 41})),
    responses((status = 200, body = UnreadNotifications))
)]
pub(crate) async fn mark_notifications_read(
    State(api): State<Api>,
    Authorized(_, member): Authorized<Console, Member>,
    payload: Payload,
) -> ApiResult<Json<UnreadNotifications>> {
    let input: MarkNotificationsRead = payload.json()?;
    if !(1..=9_007_199_254_740_991).contains(&input.up_to) {
        return Err(Problem::invalid_field("upTo", "must be the `seq` of a notification").into());
    }
    api.transaction(unit!(|tx| {
        Ok::<_, Problem>(
            observability::notifications::mark_notifications_read(tx, &member, input.up_to).await?,
        )
    }))
    .await?;
    let position = api.store().read_position(&member).await?;
    let unread = count_unread(&api, &member, position).await?;
    Ok(Json(UnreadNotifications { unread }))
}
