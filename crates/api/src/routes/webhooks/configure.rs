//! Setting a webhook up.

use axum::{Json, extract::State};
use kernel::{Problem, authority::CanEdit};
use runs::webhooks::{Configured, Keys, ProofMode};
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::view::WebhookView;
use crate::{
    envelope::ApiResult,
    extract::{Ctx, Path, Payload},
    state::Api,
};

/// What the webhook is to be.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ConfigureWebhook {
    mode: ProofMode,
    /// How many calls a minute it takes; 60 when not said, or as before.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 600, default = 60)]
    per_minute: Option<u16>,
    /// What only a form needs; no form is offered yet.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    form: Option<serde_json::Value>,
    /// Needed to choose `none`, and to change the mode of a webhook that is set up.
    #[serde(default)]
    confirm: bool,
}

/// A webhook, and its secret where a new one was made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConfiguredWebhook {
    #[serde(flatten)]
    webhook: WebhookView,
    /// The secret or token, which is given only here; null where none was made.
    #[schema(required)]
    secret: Option<String>,
}

impl ConfiguredWebhook {
    pub(super) fn of(api: &Api, configured: &Configured) -> Self {
        Self {
            webhook: WebhookView::of(api, &configured.webhook),
            secret: configured.secret.as_ref().map(|secret| secret.expose_secret().to_owned()),
        }
    }
}

/// Set up an automation's webhook
///
/// The same mode again keeps the secret and answers with `secret: null`; `rotate` makes a new one.
#[utoipa::path(put, path = "/v1/automations/{id}/webhook", tag = "webhooks", params(("id", description = "The automation.")), request_body = ConfigureWebhook, responses((status = 200, body = ConfiguredWebhook)))]
pub(crate) async fn configure_webhook(
    State(api): State<Api>,
    ctx: Ctx,
    Path(id): Path<String>,
    payload: Payload,
) -> ApiResult<Json<ConfiguredWebhook>> {
    let (id, access) = api.automation(&ctx, &id).await?;
    let right = access.require::<CanEdit>()?;
    let input: ConfigureWebhook = payload.json()?;
    if input.form.is_some() {
        return Err(
            Problem::invalid_field("form", "belongs to the mode form, which is not offered yet").into()
        );
    }
    let keys = Keys { vault: &api.services.vault, peppers: &api.services.peppers };
    let input = runs::webhooks::ConfigureWebhook {
        mode: input.mode,
        per_minute: input.per_minute,
        confirm: input.confirm,
    };
    let mut tx = api.store().begin().await?;
    let configured = runs::webhooks::configure_webhook(&mut *tx, &ctx, &right, keys, id, input).await?;
    tx.commit().await?;
    Ok(Json(ConfiguredWebhook::of(&api, &configured)))
}
