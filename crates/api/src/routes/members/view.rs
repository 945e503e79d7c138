//! Members on the wire.

use std::collections::{BTreeMap, BTreeSet};

use application::Problem;
use chrono::{DateTime, Utc};
use identity::{User, people::ONLINE_WINDOW};
use kernel::{Context, authority::Role, id::UserId};
use serde::Serialize;
use utoipa::ToSchema;
use workspace::members::Membership;

use crate::{http::views::UserView, state::Api};

/// A member of a workspace.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Member)]
pub(crate) struct MemberView {
    user: UserView,
    role: Role,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    joined_at: DateTime<Utc>,
    /// Time at which the member's access ends; null for never.
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    access_ends_at: Option<DateTime<Utc>>,
    /// `true` if the member was active in the last five minutes.
    online: bool,
}

/// Returns members with the data of the people.
pub(super) async fn member_views(
    api: &Api,
    ctx: &Context,
    members: Vec<Membership>,
) -> Result<Vec<MemberView>, Problem> {
    let ids: Vec<UserId> = members.iter().map(|member| member.user).collect();
    let people = api.store().users(&ids).await?;
    let people: BTreeMap<UserId, User> = people.into_iter().map(|user| (user.id, user)).collect();
    let online: BTreeSet<UserId> =
        api.store().find_online_users(&ids, ctx.now - ONLINE_WINDOW, ctx.now).await?;
    let view = |member: Membership| {
        let user = people.get(&member.user)?;
        Some(MemberView {
            user: user.into(),
            role: member.role,
            joined_at: member.joined_at,
            access_ends_at: member.access_ends_at,
            online: online.contains(&member.user),
        })
    };
    Ok(members.into_iter().filter_map(view).collect())
}

/// Parses the user id in a path.
///
/// # Errors
/// 404 `member_not_found` if it is malformed.
pub(super) fn parse_member_id(user: &str) -> Result<UserId, Problem> {
    user.parse().map_err(|_| Problem::not_found("member"))
}
