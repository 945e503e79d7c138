//! Members on the wire.

use std::collections::{BTreeMap, BTreeSet};

use application::{Problem, Tx};
use chrono::{DateTime, Utc};
use identity::{User, people::ONLINE_WINDOW};
use kernel::{
    Context,
    authority::Role,
    id::{UserId, WorkspaceId},
};
use serde::Serialize;
use utoipa::ToSchema;
use workspace::members::Membership;

use crate::{
    http::{
        conditional::{EntityTag, Representation, TaggedItem},
        views::UserView,
    },
    state::Api,
};

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
    /// Entity tag. Send it in `If-Match` with a change, to change only what you have seen.
    #[schema(pattern = "^\"[0-9a-f]{32}\"$")]
    etag: String,
}

impl Representation for MemberView {
    const COMPUTED: &'static [&'static str] = &["etag", "online", "user"];

    fn entity_tag(&self) -> Result<EntityTag, Problem> {
        let Self { role, joined_at, access_ends_at, .. } = *self;
        MembershipView { role, joined_at, access_ends_at }.entity_tag()
    }
}

impl TaggedItem for MemberView {
    fn etag_mut(&mut self) -> &mut String {
        &mut self.etag
    }
}

/// The part of a member that a change of it changes. The person's own data is not in it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MembershipView {
    role: Role,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    joined_at: DateTime<Utc>,
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    access_ends_at: Option<DateTime<Utc>>,
}

impl Representation for MembershipView {}

impl MembershipView {
    /// Returns a membership of a workspace. The members are locked until the transaction ends.
    ///
    /// # Errors
    /// 404 `member_not_found` if the person has no access; a [`Problem`] if the store fails.
    pub(super) async fn locked(
        tx: &mut dyn Tx,
        ctx: &Context,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<Self>, Problem> {
        tx.lock_members(workspace).await?;
        let found = tx.membership_of(workspace, user).await?.filter(|member| member.is_active(ctx.now));
        let Membership { role, joined_at, access_ends_at, .. } =
            found.ok_or_else(|| Problem::not_found("member"))?;
        Ok(Some(Self { role, joined_at, access_ends_at }))
    }
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
        let view = MemberView {
            user: user.into(),
            role: member.role,
            joined_at: member.joined_at,
            access_ends_at: member.access_ends_at,
            online: online.contains(&member.user),
            etag: String::new(),
        };
        Some(view.tagged())
    };
    members.into_iter().filter_map(view).collect()
}

/// Parses the user id in a path.
///
/// # Errors
/// 404 `member_not_found` if it is malformed.
pub(super) fn parse_member_id(user: &str) -> Result<UserId, Problem> {
    user.parse().map_err(|_| Problem::not_found("member"))
}
