//! Sessions and people on the wire.

use application::Problem;
use identity::{User, user::Color};
use kernel::{
    Context,
    authority::Role,
    caller::SessionCaller,
    id::{UserId, WorkspaceId},
};
use serde::Serialize;
use utoipa::ToSchema;
use workspace::members::AdmittedMember;

use crate::{http::schemas, state::Api};

/// A person.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = User)]
pub(crate) struct UserView {
    #[schema(example = "user")]
    kind: &'static str,
    id: UserId,
    name: String,
    #[schema(min_length = 3)]
    email: String,
    #[schema(min_length = 1, max_length = 3)]
    initials: String,
    #[schema(value_type = schemas::identity::Color)]
    color: Color,
}

impl From<&User> for UserView {
    fn from(user: &User) -> Self {
        Self {
            kind: "user",
            id: user.id,
            name: user.name.clone(),
            email: user.email.to_string(),
            initials: user.initials(),
            color: user.color(),
        }
    }
}

/// A person's sign-in in a browser.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Session)]
pub(crate) struct SessionView {
    user: UserView,
    /// The open workspace; null if the person is in none.
    #[schema(required)]
    workspace_id: Option<WorkspaceId>,
    /// The person's role in the open workspace, or the lower one as which they view it.
    #[schema(required)]
    workspace_role: Option<Role>,
    /// `true` if the session was started with the development sign-in.
    dev_login: bool,
}

impl SessionView {
    /// Returns the view of a session. A workspace to which the person no longer has access is left out.
    pub(crate) async fn of(
        api: &Api,
        session: &SessionCaller,
        user: Option<&User>,
        now: kernel::Timestamp,
    ) -> Result<Self, Problem> {
        let loaded = match user {
            Some(_) => None,
            None => api.store().user(session.user).await?,
        };
        let user = user.or(loaded.as_ref()).ok_or_else(Problem::unauthorized)?;
        let fact = match session.workspace {
            Some(workspace) => api.store().membership(workspace, session.user).await?,
            None => None,
        };
        let fact = fact.filter(|fact| fact.access_ends_at.is_none_or(|end| now < end));
        Ok(Self {
            user: user.into(),
            workspace_id: fact.as_ref().map(|fact| fact.workspace),
            workspace_role: fact.map(|fact| match session.view_as {
                Some(view) => fact.role.viewed_as(view),
                None => fact.role,
            }),
            dev_login: session.is_dev_login,
        })
    }
}

impl SessionView {
    /// Returns the view of the session of a person who has joined a workspace, after the commit.
    pub(crate) async fn joined(
        api: &Api,
        ctx: &Context,
        session: SessionCaller,
        user: &User,
        admitted: &AdmittedMember,
    ) -> Result<Self, Problem> {
        let session = SessionCaller { workspace: Some(admitted.workspace), ..session };
        Self::of(api, &session, Some(user), ctx.now).await
    }
}

/// The session, in which the joined workspace is open.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Entered)]
pub(crate) struct JoinedView {
    pub(crate) session: SessionView,
}
