//! Listing the versions of an app.

use application::Problem;
use apps::versions::Rollback;
use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::{
    authority::{AppAccess, AppRightName},
    id::{AppId, VersionId},
    page::{Page, PageRequest},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::view::VersionView;
use crate::{
    auth::{Authorized, ReadToken},
    http::{
        error::ApiResult,
        extract::{Params, Path},
    },
    state::Api,
};

/// Rollbacks that the list shows, at most.
const MAX_ROLLBACKS: u32 = 50;

/// Page of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListVersions {
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// The versions of an app, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VersionList {
    app_id: AppId,
    #[schema(required)]
    current_version_id: Option<VersionId>,
    versions: Vec<VersionView>,
    /// The latest moves of the app to an earlier version, or forth, newest first.
    #[schema(max_items = 50)]
    rollbacks: Vec<RollbackView>,
    can_edit: bool,
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// A rollback to an earlier version.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Rollback)]
pub(crate) struct RollbackView {
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    at: DateTime<Utc>,
    #[schema(required)]
    by_name: Option<String>,
    from_version_id: VersionId,
    to_version_id: VersionId,
}

impl From<Rollback> for RollbackView {
    fn from(rollback: Rollback) -> Self {
        Self {
            at: rollback.at,
            by_name: rollback.by_name,
            from_version_id: rollback.from,
            to_version_id: rollback.to,
        }
    }
}

/// List the versions of an app
#[utoipa::path(get, path = "/v1/apps/{id}/versions", tag = "apps", params(("id" = kernel::id::AppId, Path, description = "The app."), ListVersions), responses((status = 200, body = VersionList)))]
pub(crate) async fn list_versions(
    State(api): State<Api>,
    Authorized(_ctx, access): Authorized<ReadToken, AppAccess>,
    Path(_id): Path<String>,
    Params(input): Params<ListVersions>,
) -> ApiResult<Json<VersionList>> {
    let workspace = access.member().workspace();
    let page = PageRequest::parse(input.limit, input.cursor.as_deref())?;
    let app = api.store().app(workspace, access.app()).await?.ok_or_else(|| Problem::not_found("app"))?;
    let found = api.store().versions(workspace, app.id, page).await?;
    let rollbacks = api.store().rollbacks(workspace, app.id, MAX_ROLLBACKS).await?;
    let page = Page::from_limit_plus_one(found, page.limit, |version| version.id);
    Ok(Json(VersionList {
        app_id: app.id,
        current_version_id: app.current_version,
        versions: page
            .items
            .into_iter()
            .map(|version| VersionView::of(version, app.current_version))
            .collect(),
        rollbacks: rollbacks.into_iter().map(RollbackView::from).collect(),
        can_edit: access.rights().contains(AppRightName::CanEdit),
        next_cursor: page.next_cursor,
    }))
}
