//! Reading the sharing of an app.

use application::Problem;
use apps::access::AppGrant;
use axum::{Json, extract::State};
use kernel::{
    authority::{AppRight, AppRightName, CanShare, Sharing},
    id::UserId,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Path},
    state::Api,
};

/// The sharing of an app.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AppAccessView {
    pub(super) sharing: Sharing,
    /// Rights granted to single people, beyond the sharing; at most 500.
    #[schema(max_items = 500)]
    pub(super) people: Vec<PersonRights>,
}

/// Rights granted to a person.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct PersonRights {
    pub(super) user_id: UserId,
    #[schema(min_items = 1, max_items = 4)]
    pub(super) rights: Vec<AppRightName>,
}

impl From<AppGrant> for PersonRights {
    fn from(grant: AppGrant) -> Self {
        Self { user_id: grant.user, rights: grant.rights.to_vec() }
    }
}

/// Read the sharing of an app
#[utoipa::path(get, path = "/v1/apps/{id}/access", tag = "apps", params(("id" = kernel::id::AppId, Path, description = "The app.")), responses((status = 200, body = AppAccessView)))]
pub(crate) async fn read_access(
    State(api): State<Api>,
    Authorized(_ctx, right): Authorized<Console, AppRight<CanShare>>,
    Path(_id): Path<String>,
) -> ApiResult<Json<AppAccessView>> {
    let workspace = right.member().workspace();
    let app = api.store().app(workspace, right.app()).await?.ok_or_else(|| Problem::not_found("app"))?;
    let people = api.store().grants(workspace, app.id).await?;
    Ok(Json(AppAccessView {
        sharing: app.sharing,
        people: people.into_iter().map(PersonRights::from).collect(),
    }))
}
