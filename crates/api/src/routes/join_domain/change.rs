//! Changing how people join.

use application::unit;
use axum::{Json, extract::State};
use kernel::authority::Admin;
use serde::Deserialize;
use utoipa::ToSchema;
use workspace::join_domains::{JoinDomainChange, JoinRole};

use super::view::JoinDomainView;
use crate::{
    auth::{Authorized, Console},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// What to change; what is not said stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ChangeJoinDomain {
    /// Whether people of the domain come in by signing in.
    #[serde(default)]
    auto_join: Option<bool>,
    /// As what people come in.
    #[serde(default)]
    role: Option<JoinRole>,
}

/// Change how people join by their domain
///
/// Once it is verified; before that 409 `domain_not_verified`.
#[utoipa::path(patch, path = "/v1/workspaces/{ws}/join-domain", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), request_body(content = ChangeJoinDomain, example = json!({"autoJoin": true, "role": "member"})), responses((status = 200, body = JoinDomainView)))]
pub(crate) async fn change_join_domain(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    payload: Payload,
) -> ApiResult<Json<JoinDomainView>> {
    let (_, caller) = api.signed_in_user(&ctx).await?;
    let input: ChangeJoinDomain = payload.json()?;
    let change = JoinDomainChange { auto_join: input.auto_join, role: input.role };
    let changed = api
        .transaction(unit!(|tx| workspace::join_domains::change_join_domain(tx, &ctx, &admin, change).await))
        .await?;
    Ok(Json(JoinDomainView::of(Some(changed), &caller)))
}
