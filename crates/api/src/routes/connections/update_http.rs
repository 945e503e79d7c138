//! Changing a connection that is described by hand.

use application::{Problem, unit};
use axum::{Json, extract::State};
use connections::{HttpConnectionInput, connections::ConnectionError};
use kernel::authority::Admin;

use super::{
    create_http::{HttpConnectionBody, check_ports, shown},
    read::parse_connection_id,
    view::ConnectionItem,
};
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::IfMatch,
        error::ApiResult,
        extract::{Path, Payload},
    },
    state::Api,
};

/// Change a connection that is described by hand
///
/// Replaces everything but the secret, which stays if it is left out. A new host, a new host of the token endpoint and another kind of
/// `auth` need the secret again, as does an `auth` that the stored secret does not suit. With a secret, a disconnected connection is connected again.
#[utoipa::path(
    put, path = "/v1/workspaces/{ws}/connections/{id}/http", tag = "connections",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ("id" = kernel::id::ConnectionId, Path, description = "The connection."), IfMatch),
    request_body(content = HttpConnectionBody, example = json!({
        "displayName": "Orders", "baseUrl": "https://api.example.com/v2", "auth": {"type": "bearer"}, "methods": ["GET"], "secret": "example-secret",
    })),
    responses((status = 200, body = ConnectionItem))
)]
pub(crate) async fn update_http_connection(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    Path((_, id)): Path<(String, String)>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Json<ConnectionItem>> {
    let id = parse_connection_id(&id)?;
    let input = HttpConnectionInput::from(payload.json::<HttpConnectionBody>()?);
    let connection = api
        .transaction(unit!(|tx| {
            if_match.check(ConnectionItem::locked(tx, &admin, id)).await?;
            let changed = connections::connections::update_http_connection(
                tx,
                &ctx,
                &admin,
                api.vault(),
                id,
                input.clone(),
            );
            let changed = changed.await.and_then(|changed| check_ports(&api, changed));
            changed.map_err(|error| match error {
                ConnectionError::NotFound => Problem::not_found("connection")
                    .hint("Change a connection to a service of the catalogue with PUT …/connections/{id}."),
                error => error.into(),
            })
        }))
        .await?;
    shown(&api, &ctx, &admin, connection).await
}
