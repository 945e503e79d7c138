//! Listing apps.

use apps::AppError;
use axum::{Json, extract::State};
use kernel::{
    authority::{Member, authorize_app},
    id::AppId,
    page::{Page, PageRequest},
};
use observability::AppHealth;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::view::AppView;
use crate::{
    auth::{Authorized, ReadToken},
    http::{error::ApiResult, extract::Params},
    state::Api,
};

/// Page of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListApps {
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// The apps of a workspace that you can view, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AppList {
    items: Vec<AppView>,
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// List the apps of a workspace
#[utoipa::path(get, path = "/v1/workspaces/{ws}/apps", tag = "apps", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ListApps), responses((status = 200, body = AppList)))]
pub(crate) async fn list_apps(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<ReadToken, Member>,
    Params(input): Params<ListApps>,
) -> ApiResult<Json<AppList>> {
    let page = PageRequest::parse(input.limit, input.cursor.as_deref())?;
    let found = api
        .store()
        .apps(member.workspace(), member.user(), member.visibility(), page)
        .await
        .map_err(AppError::from)?;
    let page = Page::from_limit_plus_one(found, page.limit, |(app, _)| app.id);
    let ids: Vec<AppId> = page.items.iter().map(|(app, _)| app.id).collect();
    let health = api.health_of(&member, &ids, ctx.now).await?;
    let unknown = AppHealth::default();
    let items = page.items.into_iter().filter_map(|(app, granted)| {
        // What the store lists can be viewed; if a rule says otherwise, the rest is listed all the same.
        let access = authorize_app(member.clone(), Some(&app.to_fact(granted))).ok()?;
        let health = health.get(&app.id).unwrap_or(&unknown);
        Some(AppView::of(&api, app, access.rights(), health))
    });
    Ok(Json(AppList { items: items.collect(), next_cursor: page.next_cursor }))
}
