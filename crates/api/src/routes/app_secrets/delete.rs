//! Deleting a secret of an app.

use application::{Problem, unit};
use axum::{Json, extract::State};
use connections::app_secrets::AppSecretName;
use kernel::authority::AppAdmin;

use super::view::AppSecretItem;
use crate::{
    auth::{Authorized, Console},
    http::{conditional::IfMatch, error::ApiResult, extract::Path, views::Ack},
    state::Api,
};

/// Delete a secret of an app
///
/// Code that asks for it from now on gets the error `secret_unavailable`.
#[utoipa::path(
    delete, path = "/v1/apps/{id}/secrets/{name}", tag = "secrets",
    params(("id" = kernel::id::AppId, Path, description = "The app."), ("name" = String, Path, description = "Name in the code.", example = "SIGNING_KEY"), IfMatch),
    responses((status = 200, body = Ack))
)]
pub(crate) async fn delete_app_secret(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, AppAdmin>,
    Path((_, name)): Path<(String, String)>,
    if_match: IfMatch,
) -> ApiResult<Json<Ack>> {
    let name: AppSecretName = name.parse().map_err(|_| Problem::not_found("secret"))?;
    api.transaction(unit!(|tx| {
        let locked = async {
            let found = AppSecretItem::locked(tx, &admin, name.as_str()).await?;
            found.map(Some).ok_or_else(|| Problem::not_found("secret"))
        };
        if_match.check(locked).await?;
        Ok::<_, Problem>(connections::app_secrets::delete_app_secret(tx, &ctx, &admin, &name).await?)
    }))
    .await?;
    Ok(Json(Ack::OK))
}
