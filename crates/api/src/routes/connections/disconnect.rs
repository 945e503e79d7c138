//! Disconnecting a service.

use application::{Problem, unit};
use axum::{Json, extract::State};
use connections::{connection::ConnectionView, connections::Disconnected};
use kernel::{authority::Admin, id::AppId};
use serde::Serialize;
use utoipa::ToSchema;

use super::{read::parse_connection_id, view::ConnectionItem};
use crate::{
    auth::{Authorized, Console},
    http::{conditional::IfMatch, error::ApiResult, extract::Path},
    state::Api,
};

/// A service that was disconnected.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DisconnectedConnection {
    #[schema(example = true)]
    ok: bool,
    /// Apps whose current version names the connection.
    #[schema(value_type = Vec<AppId>)]
    affected_apps: Vec<AppId>,
    connection: ConnectionItem,
    /// Whether the service revoked the tokens; `null` if there were none to revoke there.
    #[schema(required = true)]
    tokens_revoked: Option<bool>,
}

/// Disconnect a service
///
/// Deletes the secret; apps cannot call the service any more. The connection stays in the list for 30 days. If it was allowed in a
/// browser, the service is asked once to revoke the tokens, for at most 5 seconds.
#[utoipa::path(
    delete, path = "/v1/workspaces/{ws}/connections/{id}", tag = "connections",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ("id" = kernel::id::ConnectionId, Path, description = "The connection."), IfMatch),
    responses((status = 200, body = DisconnectedConnection))
)]
pub(crate) async fn disconnect_service(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    Path((_, id)): Path<(String, String)>,
    if_match: IfMatch,
) -> ApiResult<Json<DisconnectedConnection>> {
    let id = parse_connection_id(&id)?;
    let done = api
        .transaction(unit!(|tx| {
            if_match.check(ConnectionItem::locked(tx, &admin, id)).await?;
            Ok::<_, Problem>(connections::connections::disconnect(tx, &ctx, &admin, id).await?)
        }))
        .await?;
    let tokens_revoked = api.revoke_tokens(&done).await;
    let affected_apps = done.affected_apps.iter().map(|user| user.app).collect();
    let shown = connections::connections::view_connection(api.store(), &ctx, &admin, id).await?;
    let bare = ConnectionView::bare(done.connection);
    let shown = shown.unwrap_or(ConnectionView { used_by: done.affected_apps, ..bare });
    let connection = ConnectionItem::of(&api, &ctx, &admin, shown).await?;
    Ok(Json(DisconnectedConnection { ok: true, affected_apps, connection, tokens_revoked }))
}

impl Api {
    /// Revokes the tokens of a disconnected connection at its service; `None` if there is nothing to revoke there.
    async fn revoke_tokens(&self, done: &Disconnected) -> Option<bool> {
        done.sealed_tokens.as_ref()?;
        let Some(token) = done.open_revocable(self.vault()) else { return Some(false) };
        match self.authorization_servers().revoke_token(done.connection.clone(), token).await {
            Ok(true) => Some(true),
            Ok(false) => None,
            Err(refusal) => {
                let connection = done.connection.id;
                tracing::warn!(%connection, reason = refusal.code.as_str(), %refusal, "tokens were not revoked");
                Some(false)
            }
        }
    }
}
