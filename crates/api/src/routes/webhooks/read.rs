//! Reading a webhook's settings and latest deliveries.

use axum::extract::State;
use kernel::{
    authority::{AppRight, CanEdit},
    id::AutomationId,
};
use runs::{RunsError, webhooks::refused_calls};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::{self, DeliveryView, RefusedCallsView, WebhookView};
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::{Representation, Tagged},
        error::ApiResult,
    },
    state::Api,
};

/// A webhook's settings and its last ten deliveries.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebhookWithDeliveries {
    #[serde(flatten)]
    webhook: WebhookView,
    /// Last ten deliveries, newest first.
    #[schema(max_items = 10)]
    deliveries: Vec<DeliveryView>,
    /// Calls of the last hour that proved nothing and are in no delivery; null without any. A call is counted within a
    /// minute.
    #[schema(required)]
    refused: Option<RefusedCallsView>,
}

impl Representation for WebhookWithDeliveries {
    const COMPUTED: &'static [&'static str] = view::COMPUTED;
}

/// Read an automation's webhook and its latest deliveries
#[utoipa::path(get, path = "/v1/automations/{id}/webhook", tag = "webhooks", params(("id" = kernel::id::AutomationId, Path, description = "The automation.")), responses((status = 200, body = WebhookWithDeliveries, headers(("ETag" = String)))))]
pub(crate) async fn read_webhook(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<Console, (AutomationId, AppRight<CanEdit>)>,
) -> ApiResult<Tagged<WebhookWithDeliveries>> {
    let workspace = right.member().workspace();
    let webhook = api.store().webhook(workspace, id).await?.ok_or(RunsError::WebhookNotFound)?;
    let deliveries = api.store().deliveries(workspace, webhook.id, 10).await?;
    let refused = api.store().refused_calls(workspace, webhook.id, ctx.now - refused_calls::SHOWN).await?;
    Ok(Tagged(WebhookWithDeliveries {
        webhook: WebhookView::of(&api, &webhook),
        deliveries: deliveries.into_iter().map(DeliveryView::from).collect(),
        refused: refused.map(RefusedCallsView::from),
    }))
}
