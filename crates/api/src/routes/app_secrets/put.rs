//! Giving a secret of an app its value.

use application::{Problem, unit};
use axum::extract::State;
use connections::app_secrets::{AppSecretInput, AppSecretView};
use kernel::authority::AppAdmin;
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::{AppSecretItem, declared_secrets};
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::{IfMatch, Tagged, TaggedItem as _},
        error::ApiResult,
        extract::{self, Path, Payload},
    },
    state::Api,
};

/// The value of a secret, and what may become of it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewAppSecret {
    /// Value. It is never returned.
    #[serde(deserialize_with = "extract::deserialize_required_secret")]
    #[schema(value_type = String, min_length = 1, max_length = 4096, example = "example-secret")]
    value: SecretString,
    /// Hosts that it may be sent to in a header; none by default.
    #[serde(default)]
    #[schema(max_items = 16, example = json!(["api.example.com"]))]
    hosts: Vec<String>,
    /// Permission for the code to get the value as a string, if its manifest asks for that; false by default.
    #[serde(default)]
    clear: bool,
}

/// Give a secret of an app its value
///
/// Replaces the value, the hosts and `clear`. Runs that have started see the new value with their next use.
#[utoipa::path(
    put, path = "/v1/apps/{id}/secrets/{name}", tag = "secrets",
    params(("id" = kernel::id::AppId, Path, description = "The app."), ("name" = String, Path, description = "Name in the code.", example = "SIGNING_KEY"), IfMatch),
    request_body(content = NewAppSecret, example = json!({"value": "example-secret", "hosts": ["api.example.com"]})),
    responses((status = 200, body = AppSecretItem))
)]
pub(crate) async fn put_app_secret(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, AppAdmin>,
    Path((_, name)): Path<(String, String)>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Tagged<AppSecretItem>> {
    let NewAppSecret { value, hosts, clear } = payload.json()?;
    let input = AppSecretInput { name, value, hosts, clear };
    let (vault, workspace) = (api.vault(), admin.member().workspace());
    let secret = api
        .transaction(unit!(|tx| {
            // A secret that the list shows without a value has a tag too; `*` asks for one with a value.
            let missing = || AppSecretItem::missing(input.name.clone(), None);
            let locked = async {
                let found = AppSecretItem::locked(tx, &admin, &input.name).await?;
                Ok(found.or_else(|| (!if_match.permits_any_state()).then(missing)))
            };
            if_match.check(locked).await?;
            let put = connections::app_secrets::put_app_secret(tx, &ctx, &admin, vault, &input);
            Ok::<_, Problem>(put.await?)
        }))
        .await?;
    let declared = declared_secrets(&api, &admin).await?;
    let stored = api.store().list_app_secrets(workspace, admin.app()).await?;
    let view = stored.into_iter().find(|view| view.secret.name == secret.name);
    let view = view.unwrap_or(AppSecretView { secret, set_by_name: None });
    Ok(Tagged(AppSecretItem::of(view, &declared).tagged()?))
}
