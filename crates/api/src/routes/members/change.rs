//! Changing a member.

use application::{Problem, unit};
use axum::extract::State;
use chrono::{DateTime, SubsecRound as _, Utc};
use kernel::authority::{Admin, Role};
use serde::{Deserialize, Deserializer};
use utoipa::ToSchema;
use workspace::members::MemberChange;

use super::view::{MemberView, MembershipView, member_views, parse_member_id};
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::{IfMatch, Tagged},
        error::ApiResult,
        extract::{Path, Payload},
    },
    state::Api,
};

/// Changes. Fields that you do not send stay as they are.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ChangeMember {
    /// Only owners can make somebody an owner.
    #[serde(default)]
    role: Option<Role>,
    /// Time in the future at which the access ends; null removes it. An owner's access cannot end.
    #[serde(default, deserialize_with = "deserialize_some")]
    #[schema(value_type = Option<DateTime<Utc>>)]
    access_ends_at: Option<Option<DateTime<Utc>>>,
}

/// Distinguishes null from an absent field.
fn deserialize_some<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<DateTime<Utc>>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Change a member's role or end of access
///
/// The change takes effect with the member's next request, and restricts their tokens at once. Admins can neither
/// change owners nor make somebody an owner. A workspace keeps at least one owner (409 `last_owner`).
#[utoipa::path(patch, path = "/v1/workspaces/{ws}/members/{userId}", tag = "people", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ("userId" = kernel::id::UserId, Path, description = "The member."), IfMatch), request_body(content = ChangeMember, example = json!({"role": "builder"})), responses((status = 200, body = MemberView)))]
pub(crate) async fn change_member(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    Path((_, user)): Path<(String, String)>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Tagged<MemberView>> {
    let user = parse_member_id(&user)?;
    let input: ChangeMember = payload.json()?;
    let change = MemberChange {
        role: input.role,
        access_ends_at: input.access_ends_at.map(|end| end.map(|end| end.trunc_subsecs(3))),
    };
    let member = api
        .transaction(unit!(|tx| {
            if_match.check(MembershipView::locked(tx, &ctx, admin.workspace(), user)).await?;
            Ok::<_, Problem>(workspace::members::change_member(tx, &ctx, &admin, user, change).await?)
        }))
        .await?;
    let view = member_views(&api, &ctx, vec![member]).await?.pop();
    Ok(Tagged(view.ok_or_else(|| Problem::not_found("member"))?))
}
