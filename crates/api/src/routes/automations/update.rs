//! Updating an automation.

use application::{Problem, unit};
use axum::extract::State;
use kernel::{
    authority::{AppRight, CanEdit},
    id::AutomationId,
};
use runs::{AutomationStatus, automations::UpdateAutomation};
use serde::{Deserialize, Deserializer};
use utoipa::ToSchema;

use super::view::{AutomationView, TriggerView};
use crate::{
    auth::{Authorized, WriteToken},
    http::{
        conditional::{IfMatch, Tagged},
        error::ApiResult,
        extract::Payload,
        schemas,
    },
    state::Api,
};

/// Changes. Fields that you do not send stay as they are.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AutomationChange {
    #[serde(default)]
    #[schema(min_length = 1, max_length = 60)]
    name: Option<String>,
    #[serde(default)]
    trigger: Option<TriggerView>,
    #[serde(default)]
    #[schema(value_type = Option<schemas::runs::AutomationStatus>)]
    status: Option<AutomationStatus>,
    /// Null removes the limit.
    #[serde(default, deserialize_with = "deserialize_some")]
    #[schema(value_type = Option<u16>, minimum = 1, maximum = 1000)]
    max_concurrency: Option<Option<u16>>,
    #[serde(default)]
    #[schema(maximum = 5)]
    retries: Option<u8>,
}

/// Distinguishes null from an absent field.
fn deserialize_some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<u16>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Update an automation
#[utoipa::path(
    patch, path = "/v1/automations/{id}", tag = "automations",
    params(("id" = kernel::id::AutomationId, Path, description = "The automation."), IfMatch),
    request_body(
        content = AutomationChange,
        example = json!({"name": "Weekly orders", "retries": 2, "status": "paused"})
    ),
    responses((status = 200, body = AutomationView))
)]
pub(crate) async fn update_automation(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<WriteToken, (AutomationId, AppRight<CanEdit>)>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Tagged<AutomationView>> {
    let input: AutomationChange = payload.json()?;
    let input = UpdateAutomation {
        name: input.name,
        trigger: input.trigger.map(TriggerView::into_trigger).transpose()?,
        status: input.status,
        max_concurrency: input.max_concurrency,
        retries: input.retries,
    };
    let automation = api
        .transaction(unit!(|tx| {
            if_match.check(AutomationView::locked(tx, &right, id)).await?;
            let updated = runs::automations::update_automation(tx, &ctx, &right, id, input.clone()).await?;
            Ok::<_, Problem>(updated)
        }))
        .await?;
    Ok(Tagged(automation.into()))
}
