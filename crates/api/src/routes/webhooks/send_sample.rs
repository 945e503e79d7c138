//! Testing a webhook.

use application::unit;
use axum::{Json, extract::State};
use kernel::{
    StoreError,
    authority::{AppRight, CanEdit},
    id::{AutomationId, DeliveryId, RunId},
};
use runs::RunsError;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, Console},
    http::{
        error::ApiResult,
        extract::{Payload, deserialize_some},
    },
    routes::inbound_webhooks,
    state::Api,
};

/// The test call.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TestWebhook {
    /// Any JSON. Default: a small object.
    #[serde(default, deserialize_with = "deserialize_some")]
    #[schema(value_type = serde_json::Value)]
    body: Option<Box<RawValue>>,
}

/// The delivery of the test call, and the run that it started.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestedWebhook {
    delivery_id: DeliveryId,
    run_id: RunId,
}

const SAMPLE: &str = r#"{"title":"A sample from the console","sample":true}"#;

/// Test a webhook
///
/// Sends a sample along the same path as a real call, and starts a run. The sample is signed with the webhook's secret,
/// and the signature is checked. For a webhook with a token, it is sent without: only a digest of the token is stored.
#[utoipa::path(post, path = "/v1/automations/{id}/webhook/test", tag = "webhooks", params(("id" = kernel::id::AutomationId, Path, description = "The automation.")), request_body(content = TestWebhook, example = json!({"body": {"title": "A test order"}})), responses((status = 200, body = TestedWebhook)))]
pub(crate) async fn test_webhook(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<Console, (AutomationId, AppRight<CanEdit>)>,
    payload: Payload,
) -> ApiResult<Json<TestedWebhook>> {
    let input: TestWebhook = payload.json_or_empty()?;
    let workspace = right.member().workspace();
    let webhook = api.store().webhook(workspace, id).await?.ok_or(RunsError::WebhookNotFound)?;

    let body = input.body.as_ref().map_or(SAMPLE, |body| body.get());
    let accepted = match inbound_webhooks::receiver(&api).send_sample(&ctx, webhook.id, body.as_bytes()).await
    {
        Ok(accepted) => accepted,
        Err(refusal) => {
            // A refusal without a delivery has written nothing that carries the audit entry.
            if refusal.delivery_code().is_none() {
                api.transaction(unit!(|tx| {
                    tx.audit(webhook.test_audit(&ctx, right.app()));
                    Ok::<_, StoreError>(())
                }))
                .await?;
            }
            return Err(refusal.into());
        }
    };
    Ok(Json(TestedWebhook { delivery_id: accepted.delivery, run_id: accepted.run }))
}
