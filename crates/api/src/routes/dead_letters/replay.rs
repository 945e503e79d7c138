//! Replaying a dead letter.

use axum::{Json, extract::State};
use kernel::{
    authority::{AppRight, CanEdit},
    id::DeadLetterId,
};
use runs::dead_letters::WhichVersion;
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, WriteToken},
    http::{
        error::ApiResult,
        extract::{Payload, deserialize_some},
        schemas,
    },
    routes::runs::replay::ReplayedView,
    state::Api,
};

/// Options of a replay.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplayDeadLetter {
    /// Input of the new run: any JSON up to 256 KiB, including null. Default: the stored input.
    #[serde(default, deserialize_with = "deserialize_some")]
    #[schema(value_type = serde_json::Value)]
    payload: Option<Box<RawValue>>,
    #[serde(default)]
    #[schema(value_type = schemas::runs::WhichVersion)]
    version: WhichVersion,
}

/// Replay a dead letter
///
/// Starts a new run and settles the dead letter. This works even if the automation is paused. The original version needs
/// what a rollback to it needs: the right to give the app what its current version has not.
#[utoipa::path(
    post, path = "/v1/dead-letters/{id}/replay", tag = "runs",
    params(("id" = kernel::id::DeadLetterId, Path, description = "The dead letter.")),
    request_body(
        content = ReplayDeadLetter,
        example = json!({"version": "current", "payload": {"title": "A corrected order"}})
    ),
    responses((status = 200, body = ReplayedView))
)]
pub(crate) async fn replay_dead_letter(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<WriteToken, (DeadLetterId, AppRight<CanEdit>)>,
    payload: Payload,
) -> ApiResult<Json<ReplayedView>> {
    let input: ReplayDeadLetter = payload.json_or_empty()?;
    Ok(Json(api.replay_dead_letter(&ctx, &right, id, input.payload, input.version).await?.into()))
}
