//! Changing the settings of a join domain.

use application::{Problem, unit};
use axum::extract::State;
use kernel::authority::Admin;
use serde::Deserialize;
use utoipa::ToSchema;
use workspace::join_domains::{JoinDomainChange, JoinRole};

use super::view::JoinDomainView;
use crate::{
    auth::{Authorized, Console},
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
pub(crate) struct ChangeJoinDomain {
    /// `true` if people of the domain join automatically when they sign in.
    #[serde(default)]
    auto_join: Option<bool>,
    /// Role of people who join.
    #[serde(default)]
    #[schema(value_type = Option<schemas::workspace::JoinRole>)]
    role: Option<JoinRole>,
}

/// Change the settings of a join domain
///
/// Before the domain is verified, this fails with 409 `domain_not_verified`.
#[utoipa::path(
    patch, path = "/v1/workspaces/{ws}/join-domain", tag = "people",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), IfMatch),
    request_body(content = ChangeJoinDomain, example = json!({"autoJoin": true, "role": "member"})),
    responses((status = 200, body = JoinDomainView))
)]
pub(crate) async fn change_join_domain(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Tagged<JoinDomainView>> {
    let (_, caller) = api.signed_in_user(&ctx).await?;
    let input: ChangeJoinDomain = payload.json()?;
    let change = JoinDomainChange { auto_join: input.auto_join, role: input.role };
    let changed = api
        .transaction(unit!(|tx| {
            if_match.check(JoinDomainView::locked(tx, admin.workspace(), &caller)).await?;
            let changed = workspace::join_domains::change_join_domain(tx, &ctx, &admin, change).await?;
            Ok::<_, Problem>(changed)
        }))
        .await?;
    Ok(Tagged(JoinDomainView::of(Some(changed), &caller)))
}
