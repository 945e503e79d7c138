//! Reading an automation.

use application::Problem;
use axum::extract::State;
use kernel::{authority::AppAccess, id::AutomationId};

use super::view::AutomationView;
use crate::{
    auth::{Authorized, ReadToken},
    http::{conditional::Tagged, error::ApiResult},
    state::Api,
};

/// Read an automation
#[utoipa::path(get, path = "/v1/automations/{id}", tag = "automations", params(("id" = kernel::id::AutomationId, Path, description = "The automation.")), responses((status = 200, body = AutomationView, headers(("ETag" = String)))))]
pub(crate) async fn read_automation(
    State(api): State<Api>,
    Authorized(_ctx, (id, access)): Authorized<ReadToken, (AutomationId, AppAccess)>,
) -> ApiResult<Tagged<AutomationView>> {
    let found = api.store().automation(access.member().workspace(), id).await?;
    Ok(Tagged(found.ok_or_else(|| Problem::not_found("automation"))?.into()))
}
