//! Planning a change.

use axum::{Json, extract::State};
use kernel::authority::{AppRight, CanEdit};
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::ChangePlanView;
use crate::{
    auth::{Authorized, WriteToken},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// A change to plan.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Instruction {
    /// Sentences in English, Russian or Kazakh that say what to change; 4 to 2,000 characters.
    #[schema(min_length = 4, max_length = 2000)]
    instruction: String,
}

/// Plan a change
///
/// Plans what the sentences ask for. Nothing is changed until you approve the plan, which expires after an hour. What is
/// not understood is in `notes`, and is not in the plan.
#[utoipa::path(
    post, path = "/v1/apps/{id}/changes", tag = "apps",
    params(("id" = kernel::id::AppId, Path, description = "The app.")),
    request_body(
        content = Instruction,
        example = json!({"instruction": "Let the app read from api.github.com. Run it every weekday at 9:00."})
    ),
    responses((status = 200, body = ChangePlanView))
)]
pub(crate) async fn plan_change(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<WriteToken, AppRight<CanEdit>>,
    payload: Payload,
) -> ApiResult<Json<ChangePlanView>> {
    let Instruction { instruction } = payload.json()?;
    let (change, app_name) = api.plan_change(&ctx, &right, &instruction).await?;
    Ok(Json(ChangePlanView::of(change, app_name, right.member().role())))
}
