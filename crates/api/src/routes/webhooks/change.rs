//! Changing a webhook.

use application::{Problem, unit};
use axum::extract::State;
use kernel::{
    authority::{AppRight, CanEdit},
    id::AutomationId,
};
use runs::RunsError;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{form::FormChange, view::WebhookView};
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::{IfMatch, Tagged},
        error::ApiResult,
        extract::Payload,
    },
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
#[utoipa::path(patch, path = "/v1/automations/{id}/webhook", tag = "webhooks", params(("id" = kernel::id::AutomationId, Path, description = "The automation."), IfMatch), request_body(content = WebhookChange, example = json!({"enabled": true, "perMinute": 120})), responses((status = 200, body = WebhookView)))]
pub(crate) async fn change_webhook(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<Console, (AutomationId, AppRight<CanEdit>)>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Tagged<WebhookView>> {
    let input: WebhookChange = payload.json()?;
    let input = runs::webhooks::ChangeWebhook {
        enabled: input.enabled,
        per_minute: input.per_minute,
        form: input.form.map(Into::into),
    };
    let webhook = api
        .transaction(unit!(|tx| {
            let locked = async {
                let found = WebhookView::locked(tx, &api, &right, id).await?;
                Ok(Some(found.ok_or(RunsError::WebhookNotFound)?))
            };
            if_match.check(locked).await?;
            let changed = runs::webhooks::change_webhook(tx, &ctx, &right, id, input.clone()).await?;
            Ok::<_, Problem>(changed)
        }))
        .await?;
    Ok(Tagged(WebhookView::of(&api, &webhook)))
}
