//! Rotating the secret of a webhook.

use application::unit;
use axum::{Json, extract::State};
use kernel::{
    authority::{AppRight, CanEdit},
    id::AutomationId,
};
use runs::webhooks::CredentialKeys;

use super::configure::ConfiguredWebhook;
use crate::{
    auth::{Authorized, Console},
    http::error::ApiResult,
    state::Api,
};

/// Rotate the secret of a webhook
///
/// Issues a new secret. The old one stops working at once.
#[utoipa::path(post, path = "/v1/automations/{id}/webhook/rotate", tag = "webhooks", params(("id" = kernel::id::AutomationId, Path, description = "The automation.")), responses((status = 200, body = ConfiguredWebhook)))]
pub(crate) async fn rotate_webhook(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<Console, (AutomationId, AppRight<CanEdit>)>,
) -> ApiResult<Json<ConfiguredWebhook>> {
    let keys = CredentialKeys { vault: api.vault(), peppers: api.peppers() };
    let configured =
        api.transaction(unit!(|tx| runs::webhooks::rotate_webhook(tx, &ctx, &right, keys, id).await)).await?;
    Ok(Json(ConfiguredWebhook::of(&api, &configured)))
}
