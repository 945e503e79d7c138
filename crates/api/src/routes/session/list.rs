//! Listing a person's sessions.

use application::Problem;
use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use identity::sessions::Session;
use kernel::{
    Caller,
    id::SessionId,
    page::{Page, PageRequest},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    auth::{Console, Ctx},
    http::{error::ApiResult, extract::Params},
    state::Api,
};

/// Your sessions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionList {
    /// Newest first.
    items: Vec<SessionItem>,
    /// Cursor of the next page; null on the last page.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// One of your sessions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionItem {
    id: SessionId,
    /// `true` for the session of this request.
    current: bool,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
    /// Accurate to about a minute.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    last_seen_at: DateTime<Utc>,
    /// Time at which the session expires unless it is used before.
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    expires_at: DateTime<Utc>,
    /// IP address from which it was started.
    #[schema(required)]
    address: Option<String>,
    /// Browser and system, as the browser describes itself.
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
            address: session.client_ip.map(|address| address.to_string()),
            device: session.device,
            method: session.method.as_str(),
        }
    }
}

/// Page of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListSessions {
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

/// List your sessions
///
/// You can have at most 100 sessions. Signing in again ends the one that was used least recently.
#[utoipa::path(get, path = "/v1/me/sessions", tag = "session", params(ListSessions), responses((status = 200, body = SessionList)))]
pub(crate) async fn list_sessions(
    State(api): State<Api>,
    ctx: Ctx<Console>,
    Params(input): Params<ListSessions>,
) -> ApiResult<Json<SessionList>> {
    let Caller::Session(caller) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let page = PageRequest::parse(input.limit, input.cursor.as_deref())?;
    let found = api.store().sessions_of(caller.user, page).await?;
    let page = Page::from_limit_plus_one(found, page.limit, |session| session.id);
    let live = page.items.into_iter().filter(|session| ctx.now < session.ends_at());
    let items = live.map(|session| SessionItem::new(session, caller.session)).collect();
    Ok(Json(SessionList { items, next_cursor: page.next_cursor }))
}
