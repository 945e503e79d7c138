//! Sending a sample through a webhook.

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, HeaderValue, header},
};
use kernel::{
    authority::CanEdit,
    id::{DeliveryId, RunId},
};
use runs::{RunsError, webhooks::Call};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::{
    envelope::ApiResult,
    extract::{Ctx, Path, Payload},
    routes::hooks,
    state::Api,
};

/// What the sample holds.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TestWebhook {
    /// Any JSON; a small object when not said.
    #[serde(default)]
    #[schema(value_type = serde_json::Value)]
    body: Option<Box<RawValue>>,
}

/// The sample, and the run it started.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestedWebhook {
    delivery_id: DeliveryId,
    run_id: RunId,
}

const SAMPLE: &str = r#"{"title":"A sample from the console","sample":true}"#;

/// Send a sample through a webhook
///
/// It takes the same path as a real call, save that it needs no proof, and starts a run.
#[utoipa::path(post, path = "/v1/automations/{id}/webhook/test", tag = "webhooks", params(("id" = kernel::id::AutomationId, Path, description = "The automation.")), request_body = TestWebhook, responses((status = 200, body = TestedWebhook)))]
pub(crate) async fn test_webhook(
    State(api): State<Api>,
    ctx: Ctx,
    Path(id): Path<String>,
    payload: Payload,
) -> ApiResult<Json<TestedWebhook>> {
    let (id, access) = api.automation(&ctx, &id).await?;
    let right = access.require::<CanEdit>()?;
    let input: TestWebhook = payload.json_or_empty()?;
    let workspace = right.member().workspace();
    let webhook = api.store().webhook(workspace, id).await?.ok_or(RunsError::WebhookNotFound)?;

    let headers =
        HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    let body = input.body.as_ref().map_or(SAMPLE, |body| body.get());
    let call = Call { hook: webhook.id, headers: &headers, body: body.as_bytes(), sample: true };
    let accepted = hooks::receiver(&api).receive(&ctx, call).await?;

    let mut tx = api.store().begin().await?;
    tx.audit(ctx.audit("webhook.test").workspace(workspace).target(webhook.id));
    tx.commit().await?;
    Ok(Json(TestedWebhook { delivery_id: accepted.delivery, run_id: accepted.run }))
}
