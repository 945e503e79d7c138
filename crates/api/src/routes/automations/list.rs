//! Listing automations.

use axum::{Json, extract::State};
use kernel::{
    authority::Member,
    id::AppId,
    page::{Page, PageRequest},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::view::AutomationView;
use crate::{
    auth::{Authorized, ReadToken},
    http::{error::ApiResult, extract::Params},
    state::Api,
};

/// Filter, and the page of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListAutomations {
    /// Only automations of this app.
    pub(super) app_id: Option<AppId>,
    /// The `nextCursor` of the previous page.
    pub(super) cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200, default = 50)]
    pub(super) limit: Option<u32>,
}

/// The automations of a workspace whose app you can view, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AutomationList {
    items: Vec<AutomationView>,
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// List the automations of a workspace
#[utoipa::path(get, path = "/v1/workspaces/{ws}/automations", tag = "automations", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ListAutomations), responses((status = 200, body = AutomationList)))]
pub(crate) async fn list_automations(
    State(api): State<Api>,
    Authorized(_ctx, member): Authorized<ReadToken, Member>,
    Params(input): Params<ListAutomations>,
) -> ApiResult<Json<AutomationList>> {
    let page = PageRequest::parse(input.limit, input.cursor.as_deref())?;
    let found = api.store().automations(member.workspace(), member.visibility(), input.app_id, page).await?;
    let page =
        Page::from_limit_plus_one(found, page.limit, |automation| automation.id).map(AutomationView::from);
    Ok(Json(AutomationList { items: page.items, next_cursor: page.next_cursor }))
}
