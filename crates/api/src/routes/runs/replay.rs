//! Replaying a failed run.

use axum::{Json, extract::State};
use kernel::{
    authority::{AppRight, CanEdit},
    id::{DeadLetterId, RunId},
};
use runs::dead_letters::{ReplayedRun, WhichVersion};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::view::VersionRefView;
use crate::{
    auth::{Authorized, WriteToken},
    http::{
        error::ApiResult,
        extract::{Payload, deserialize_some},
        schemas,
    },
    state::Api,
};

/// Options of a replay.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReplayRun {
    /// Input of the new run: any JSON up to 256 KiB, including null. Default: the input of the failed run.
    #[serde(default, deserialize_with = "deserialize_some")]
    #[schema(value_type = serde_json::Value)]
    input: Option<Box<RawValue>>,
    #[serde(default)]
    #[schema(value_type = schemas::runs::WhichVersion)]
    version: WhichVersion,
}

/// The new run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Replayed)]
pub(crate) struct ReplayedView {
    run_id: RunId,
    /// Dead letter that the replay settles.
    #[schema(required)]
    dead_letter_id: Option<DeadLetterId>,
    version: VersionRefView,
    /// `true` if the input differs from the original.
    edited: bool,
    /// `true` if the runs of the month are used up: the run waits for the next month or a larger plan, at most seven days.
    held: bool,
}

impl From<ReplayedRun> for ReplayedView {
    fn from(replayed: ReplayedRun) -> Self {
        Self {
            run_id: replayed.run,
            dead_letter_id: replayed.dead_letter,
            version: replayed.version.into(),
            edited: replayed.is_edited,
            held: replayed.is_on_hold,
        }
    }
}

/// Replay a failed run
///
/// Starts a new run with the current version or that of the failed run. An open dead letter of the run is settled. The
/// version of the failed run needs what a rollback to it needs: the right to give the app what its current version has not.
#[utoipa::path(
    post, path = "/v1/runs/{id}/replay", tag = "runs",
    params(("id" = kernel::id::RunId, Path, description = "The run.")),
    request_body(
        content = ReplayRun,
        example = json!({"version": "current", "input": {"title": "A corrected order"}})
    ),
    responses((status = 200, body = ReplayedView))
)]
pub(crate) async fn replay_run(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<WriteToken, (RunId, AppRight<CanEdit>)>,
    payload: Payload,
) -> ApiResult<Json<ReplayedView>> {
    let input: ReplayRun = payload.json_or_empty()?;
    Ok(Json(api.replay_run(&ctx, &right, id, input.input, input.version).await?.into()))
}
