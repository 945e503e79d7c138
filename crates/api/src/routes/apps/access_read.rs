//! Reading the sharing of an app.

use application::{Problem, Tx};
use apps::access::AppGrant;
use axum::{extract::State, response::Response};
use kernel::{
    authority::{AppAccess, AppRight, AppRightName, CanShare, Sharing},
    id::UserId,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::{IfNoneMatch, Representation},
        error::ApiResult,
        extract::Path,
    },
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

impl Representation for AppAccessView {}

impl AppAccessView {
    pub(super) fn of(sharing: Sharing, grants: Vec<AppGrant>) -> Self {
        Self { sharing, people: grants.into_iter().map(PersonRights::from).collect() }
    }

    /// Returns the sharing of an app that is locked until the transaction ends.
    ///
    /// # Errors
    /// 404 `app_not_found` if it was deleted; a [`Problem`] if the store fails.
    pub(super) async fn locked(tx: &mut dyn Tx, access: &AppAccess) -> Result<Option<Self>, Problem> {
        let workspace = access.member().workspace();
        let app = tx.app_for_update(workspace, access.app()).await?;
        let app = app.ok_or_else(|| Problem::not_found("app"))?;
        Ok(Some(Self::of(app.sharing, tx.grants_of_app(workspace, app.id).await?)))
    }
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
#[utoipa::path(get, path = "/v1/apps/{id}/access", tag = "apps", params(("id" = kernel::id::AppId, Path, description = "The app."), IfNoneMatch), responses((status = 200, body = AppAccessView)))]
pub(crate) async fn read_access(
    State(api): State<Api>,
    Authorized(_ctx, right): Authorized<Console, AppRight<CanShare>>,
    Path(_id): Path<String>,
    known: IfNoneMatch,
) -> ApiResult<Response> {
    let workspace = right.member().workspace();
    let app = api.store().app(workspace, right.app()).await?.ok_or_else(|| Problem::not_found("app"))?;
    let people = api.store().grants(workspace, app.id).await?;
    Ok(known.respond(AppAccessView::of(app.sharing, people))?)
}
