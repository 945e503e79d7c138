//! Changing a connection to a service of the catalogue.

use std::collections::BTreeMap;

use application::{Problem, unit};
use axum::{Json, extract::State};
use connections::connections::{CatalogueConnectionChange, ConnectionError};
use kernel::authority::Admin;
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    create_http::{check_ports, shown},
    read::parse_connection_id,
    view::ConnectionItem,
};
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::IfMatch,
        error::ApiResult,
        extract::{self, Path, Payload},
    },
    state::Api,
};

/// Changes to a connection. What is left out stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ChangeConnection {
    #[serde(default)]
    #[schema(min_length = 1, max_length = 60, example = "Our GitHub")]
    display_name: Option<String>,
    /// Values of the connector's fields, all of them.
    #[serde(default)]
    values: Option<BTreeMap<String, String>>,
    /// Credential. It is never returned.
    #[serde(default, deserialize_with = "extract::deserialize_secret")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 4096, example = "example-secret")]
    secret: Option<SecretString>,
}

/// Change a connection to a service of the catalogue
///
/// Values that lead to a new host need the secret again. With a secret, a disconnected connection is connected again.
#[utoipa::path(
    put, path = "/v1/workspaces/{ws}/connections/{id}", tag = "connections",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ("id" = kernel::id::ConnectionId, Path, description = "The connection."), IfMatch),
    request_body(content = ChangeConnection, example = json!({"displayName": "Our GitHub", "secret": "example-secret"})),
    responses((status = 200, body = ConnectionItem))
)]
pub(crate) async fn update_connection(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    Path((_, id)): Path<(String, String)>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Json<ConnectionItem>> {
    let id = parse_connection_id(&id)?;
    let ChangeConnection { display_name, values, secret } = payload.json()?;
    let change = CatalogueConnectionChange { display_name, values, secret };
    let connection = api
        .transaction(unit!(|tx| {
            if_match.check(ConnectionItem::locked(tx, &admin, id)).await?;
            let changed = connections::connections::update_catalogue_connection(
                tx,
                &ctx,
                &admin,
                api.vault(),
                id,
                change.clone(),
            );
            let changed = changed.await.and_then(|changed| check_ports(&api, changed));
            changed.map_err(|error| match error {
                ConnectionError::NotFound => Problem::not_found("connection")
                    .hint("Change a connection that is described by hand with PUT …/connections/{id}/http."),
                error => error.into(),
            })
        }))
        .await?;
    shown(&api, &ctx, &admin, connection).await
}
