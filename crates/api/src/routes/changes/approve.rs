//! Approving a planned change.

use application::Problem;
use apps::Manifest;
use axum::{Json, extract::State};
use kernel::{
    authority::{AppRight, CanEdit},
    id::ChangeId,
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::ChangeView;
use crate::{
    auth::{Authorized, WriteToken},
    http::{error::ApiResult, extract::Payload, schemas},
    state::Api,
};

/// An approval.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeApproval {
    /// Manifest of the plan as you read it. If the plan has another one, nothing changes, and the response is 409
    /// `manifest_changed`.
    #[schema(value_type = schemas::apps::Manifest)]
    manifest: serde_json::Value,
}

/// Approve a planned change
///
/// Makes the change: creates a version with the planned manifest and the same code, and moves the app and its automations.
/// You can approve only changes that you planned, with the right `can_edit`. With a token you can approve only plans whose
/// `needsConsole` is empty. If something that the plan needs is gone, the state of the change becomes `failed`, and its
/// `message` says why.
#[utoipa::path(
    post, path = "/v1/changes/{changeId}/approve", tag = "apps",
    params(("changeId" = kernel::id::ChangeId, Path, description = "The change.")),
    request_body(
        content = ChangeApproval,
        example = json!({"manifest": {
            "name": "Issues", "description": "Counts the open issues.", "archetype": "workshop", "category": "data",
            "permissions": {"egress": [{"host": "api.github.com", "methods": ["GET"]}]},
            "triggers": [{"type": "schedule", "cron": "0 9 * * 1-5", "timezone": "Asia/Almaty"}]
        }})
    ),
    responses((status = 200, body = ChangeView))
)]
pub(crate) async fn approve_change(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<WriteToken, (ChangeId, AppRight<CanEdit>)>,
    payload: Payload,
) -> ApiResult<Json<ChangeView>> {
    let input: ChangeApproval = payload.json()?;
    let manifest = Manifest::parse(&input.manifest)?;
    let change = api.approve_change(&ctx, &right, id, &manifest).await?;
    let member = right.member();
    let app = api.store().app(member.workspace(), change.app).await?;
    let app = app.ok_or_else(|| Problem::not_found("app"))?;
    let change = api.with_remaining_steps(change).await?;
    Ok(Json(ChangeView::of(change, app.name, member.role(), ctx.now)))
}
