//! One automation.

use axum::{Json, extract::State};
use kernel::Problem;

use super::view::AutomationView;
use crate::{
    auth::Ctx,
    http::{error::ApiResult, extract::Path},
    state::Api,
};

/// Read an automation
#[utoipa::path(get, path = "/v1/automations/{id}", tag = "automations", params(("id" = kernel::id::AutomationId, Path, description = "The automation.")), responses((status = 200, body = AutomationView)))]
pub(crate) async fn read_automation(
    State(api): State<Api>,
    ctx: Ctx,
    Path(id): Path<String>,
) -> ApiResult<Json<AutomationView>> {
    let (id, access) = api.automation(&ctx, &id).await?;
    let found = api.store().automation(access.member().workspace(), id).await?;
    Ok(Json(found.ok_or_else(|| Problem::not_found("automation"))?.into()))
}
