//! Listing the secrets of an app.

use apps::manifest::SecretPermission;
use axum::{Json, extract::State};
use kernel::authority::{AppRight, CanEdit};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::{AppSecretItem, declared_secrets};
use crate::{
    auth::{Authorized, Console},
    http::{conditional::TaggedItem as _, error::ApiResult},
    state::Api,
};

/// The secrets of an app.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AppSecretList {
    /// Those that have a value, at most 50, and those that the current version names without one; by name.
    #[schema(max_items = 100)]
    items: Vec<AppSecretItem>,
}

/// List the secrets of an app
///
/// Returns no part of a value.
#[utoipa::path(
    get, path = "/v1/apps/{id}/secrets", tag = "secrets",
    params(("id" = kernel::id::AppId, Path, description = "The app.")),
    responses((status = 200, body = AppSecretList))
)]
pub(crate) async fn list_app_secrets(
    State(api): State<Api>,
    Authorized(_, right): Authorized<Console, AppRight<CanEdit>>,
) -> ApiResult<Json<AppSecretList>> {
    let declared = declared_secrets(&api, &right).await?;
    let stored = api.store().list_app_secrets(right.member().workspace(), right.app()).await?;
    let mut items: Vec<_> = stored.into_iter().map(|view| AppSecretItem::of(view, &declared)).collect();
    let is_missing = |known: &&SecretPermission| !items.iter().any(|item| item.name() == known.name);
    let missing: Vec<_> = declared
        .iter()
        .filter(is_missing)
        .map(|it| AppSecretItem::missing(it.name.clone(), Some(it)))
        .collect();
    items.extend(missing);
    items.sort_by(|a, b| a.name().cmp(b.name()));
    let items = items.into_iter().map(AppSecretItem::tagged).collect::<Result<_, _>>()?;
    Ok(Json(AppSecretList { items }))
}
