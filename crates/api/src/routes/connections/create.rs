//! Creating a connection to a service of the catalogue.

use std::collections::BTreeMap;

use application::{Problem, unit};
use axum::{Json, extract::State};
use connections::{catalogue::find_connector, connections::CatalogueConnectionInput};
use kernel::authority::Admin;
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{
    create_http::{check_ports, shown},
    list::allowed_connectors,
    view::ConnectionItem,
};
use crate::{
    auth::{Authorized, Console},
    http::{
        error::ApiResult,
        extract::{self, Path, Payload},
    },
    state::Api,
};

/// A connection to a service of the catalogue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewConnection {
    #[schema(min_length = 1, max_length = 60, example = "Our GitHub")]
    display_name: String,
    /// Values of the connector's fields.
    #[serde(default)]
    values: BTreeMap<String, String>,
    /// Credential. It is never returned.
    #[serde(default, deserialize_with = "extract::deserialize_secret")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 4096, example = "example-secret")]
    secret: Option<SecretString>,
}

/// Connect a service of the catalogue
///
/// Connectors that are connected by a person's permission are 409 `needs_authorization`: start that with `POST …/authorize`.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/connectors/{connectorId}", tag = "connections",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ("connectorId" = String, Path, description = "The connector, as in the catalogue.", example = "github")),
    request_body(content = NewConnection, example = json!({"displayName": "Our GitHub", "secret": "example-secret"})),
    responses((status = 200, body = ConnectionItem))
)]
pub(crate) async fn create_connection(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    Path((_, connector)): Path<(String, String)>,
    payload: Payload,
) -> ApiResult<Json<ConnectionItem>> {
    let NewConnection { display_name, values, secret } = payload.json()?;
    check_allowed(&api, &admin, &connector).await?;
    let input = CatalogueConnectionInput { display_name, values, secret };
    let connection = api
        .transaction(unit!(|tx| {
            let made = connections::connections::create_catalogue_connection(
                tx,
                &ctx,
                &admin,
                api.vault(),
                &connector,
                input.clone(),
            );
            check_ports(&api, made.await?)
        }))
        .await?;
    shown(&api, &ctx, &admin, connection).await
}

/// Refuses a connector that the profile of the workspace does not allow.
pub(super) async fn check_allowed(api: &Api, admin: &Admin, connector: &str) -> Result<(), Problem> {
    let workspace = api.store().workspace(admin.workspace()).await?;
    let profile = workspace.ok_or_else(|| Problem::not_found("workspace"))?.profile;
    if find_connector(connector).is_some() && !allowed_connectors(profile).iter().any(|one| one == connector)
    {
        return Err(Problem::forbidden(
            "connector_not_allowed",
            "The profile of this workspace does not allow this connector.",
        )
        .hint("Choose one that `allowed` lists in the connections of the workspace."));
    }
    Ok(())
}
