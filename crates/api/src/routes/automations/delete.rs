//! Deleting an automation.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::{
    authority::{AppRight, CanEdit},
    id::AutomationId,
};

use super::view::AutomationView;
use crate::{
    auth::{Authorized, WriteToken},
    http::{conditional::IfMatch, error::ApiResult, views::Ack},
    state::Api,
};

/// Delete an automation
///
/// Deletes its webhook too; its queued runs fail. Runs are kept as a record.
#[utoipa::path(delete, path = "/v1/automations/{id}", tag = "automations", params(("id" = kernel::id::AutomationId, Path, description = "The automation."), IfMatch), responses((status = 200, body = Ack)))]
pub(crate) async fn delete_automation(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<WriteToken, (AutomationId, AppRight<CanEdit>)>,
    if_match: IfMatch,
) -> ApiResult<Json<Ack>> {
    api.transaction(unit!(|tx| {
        if_match.check(AutomationView::locked(tx, &right, id)).await?;
        Ok::<_, Problem>(runs::automations::delete_automation(tx, &ctx, &right, id).await?)
    }))
    .await?;
    Ok(Json(Ack::OK))
}
