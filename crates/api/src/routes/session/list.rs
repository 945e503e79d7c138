//! Where the person is signed in.

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use identity::sessions::Session;
use kernel::{Caller, Problem, id::SessionId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{envelope::ApiResult, extract::Ctx, state::Api};

/// The caller's sessions.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SessionList {
    /// Newest first.
    items: Vec<SessionItem>,
}

/// One place where the caller is signed in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionItem {
    id: SessionId,
    /// Whether it is the one that asks.
    current: bool,
    created_at: DateTime<Utc>,
    /// To the minute or so.
    last_seen_at: DateTime<Utc>,
    /// When it ends unless it is used again.
    expires_at: DateTime<Utc>,
    /// From where it was opened.
    #[schema(required)]
    address: Option<String>,
    /// The browser and system, as the browser itself says.
    #[schema(required, example = "Firefox on Linux")]
    device: Option<String>,
    /// `email`, `passkey`, `oidc` or `dev`.
    method: &'static str,
}

impl SessionItem {
    fn new(session: Session, current: SessionId) -> Self {
        Self {
            id: session.id,
            current: session.id == current,
            created_at: session.created_at,
            last_seen_at: session.last_seen_at,
            expires_at: session.ends_at(),
            address: session.address.map(|address| address.to_string()),
            device: session.device,
            method: session.method.as_str(),
        }
    }
}

/// List where the caller is signed in
#[utoipa::path(get, path = "/v1/me/sessions", tag = "session", responses((status = 200, body = SessionList)))]
pub(crate) async fn list_sessions(State(api): State<Api>, ctx: Ctx) -> ApiResult<Json<SessionList>> {
    let Caller::Session(caller) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let sessions = api.store().sessions_of(caller.user).await?;
    let live = sessions.into_iter().filter(|session| ctx.now < session.ends_at());
    Ok(Json(SessionList { items: live.map(|session| SessionItem::new(session, caller.session)).collect() }))
}
