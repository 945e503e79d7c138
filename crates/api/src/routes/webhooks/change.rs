//! Changing a webhook.

use application::unit;
use axum::{Json, extract::State};
use kernel::{
    authority::{AppRight, CanEdit},
    id::AutomationId,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{form::FormChange, view::WebhookView};
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// Changes. Fields that you do not send stay as they are.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct WebhookChange {
    #[serde(default)]
    enabled: Option<bool>,
    #[serde(default)]
    #[schema(minimum = 1, maximum = 600)]
    per_minute: Option<u16>,
    /// Settings of a public form; only for the mode `form`.
    #[serde(default)]
    form: Option<FormChange>,
}

/// Enable or disable a webhook, or change its limit or its form
#[utoipa::path(patch, path = "/v1/automations/{id}/webhook", tag = "webhooks", params(("id" = kernel::id::AutomationId, Path, description = "The automation.")), request_body(content = WebhookChange, example = json!({"enabled": true, "perMinute": 120})), responses((status = 200, body = WebhookView)))]
pub(crate) async fn change_webhook(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<Console, (AutomationId, AppRight<CanEdit>)>,
    payload: Payload,
) -> ApiResult<Json<WebhookView>> {
    let input: WebhookChange = payload.json()?;
    let input = runs::webhooks::ChangeWebhook {
        enabled: input.enabled,
        per_minute: input.per_minute,
        form: input.form.map(Into::into),
    };
    let webhook = api
        .transaction(unit!(|tx| runs::webhooks::change_webhook(tx, &ctx, &right, id, input.clone()).await))
        .await?;
    Ok(Json(WebhookView::of(&api, &webhook)))
}
