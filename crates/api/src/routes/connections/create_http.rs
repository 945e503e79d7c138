//! Creating a connection that is described by hand.

use application::unit;
use axum::{Json, extract::State};
use connections::{
    AuthInput, HttpConnectionInput,
    connection::{Connection, ConnectionView, HeaderInput},
    connections::ConnectionError,
    gates::Method,
};
use kernel::authority::Admin;
use secrecy::SecretString;
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::ConnectionItem;
use crate::{
    auth::{Authorized, Console},
    http::{
        error::ApiResult,
        extract::{self, Payload},
        schemas,
    },
    state::Api,
};

/// A connection that is described by hand.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = DescribeHttpConnection)]
pub(crate) struct HttpConnectionBody {
    #[schema(min_length = 1, max_length = 60, example = "Orders")]
    display_name: String,
    /// URL that paths are appended to: https, the name of a host of the internet, no query and no credentials.
    #[schema(min_length = 9, max_length = 700, example = "https://api.example.com/v1")]
    base_url: String,
    #[schema(value_type = schemas::connections::ConnectionAuth)]
    auth: AuthInput,
    #[schema(value_type = Vec<schemas::apps::HttpMethod>, min_items = 1, max_items = 5)]
    methods: Vec<Method>,
    /// Path below the base URL that requests must be under. Default: `/`.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 512, example = "/orders")]
    path_prefix: Option<String>,
    /// Headers that are added to every request.
    #[serde(default)]
    #[schema(value_type = Vec<schemas::connections::ExtraHeader>, max_items = 8)]
    headers: Vec<connections::connection::ExtraHeader>,
    /// Path below the base URL of a GET request that changes nothing, for tests.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 512, example = "/orders?limit=1")]
    test_path: Option<String>,
    /// Whether a test sends a request.
    #[serde(default = "default_testable")]
    #[schema(default = true)]
    testable: bool,
    /// Name of the preset that filled the form.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 64)]
    preset: Option<String>,
    /// Credential, in the form that `auth` needs. It is never returned. Required for a new connection, a new host and
    /// another kind of `auth`.
    #[serde(default, deserialize_with = "extract::deserialize_secret")]
    #[schema(value_type = Option<String>, min_length = 1, max_length = 4096, example = "example-secret")]
    secret: Option<SecretString>,
}

fn default_testable() -> bool {
    true
}

impl From<HttpConnectionBody> for HttpConnectionInput {
    fn from(body: HttpConnectionBody) -> Self {
        let header = |header: connections::connection::ExtraHeader| HeaderInput {
            name: header.name,
            value: header.value,
        };
        Self {
            display_name: body.display_name,
            base_url: body.base_url,
            auth: body.auth,
            methods: body.methods,
            path_prefix: body.path_prefix,
            headers: body.headers.into_iter().map(header).collect(),
            test_path: body.test_path,
            testable: body.testable,
            preset: body.preset,
            secret: body.secret,
        }
    }
}

/// Returns a connection that was just changed, with its calls and the apps that name it.
pub(super) async fn shown(
    api: &Api,
    ctx: &kernel::Context,
    admin: &Admin,
    connection: Connection,
) -> ApiResult<Json<ConnectionItem>> {
    let view = connections::connections::view_connection(api.store(), ctx, admin, connection.id).await?;
    let view = view.unwrap_or_else(|| ConnectionView::bare(connection));
    Ok(Json(ConnectionItem::of(api, ctx, admin, view).await?))
}

/// Returns a connection that is to be stored, unless the gate could never call it.
pub(super) fn check_ports(api: &Api, connection: Connection) -> Result<Connection, ConnectionError> {
    api.connection_tester().check_ports(&connection)?;
    Ok(connection)
}

/// Connect a service by hand
///
/// The secret is sealed for this host and this connection. A workspace has at most 200 connections.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/connectors/http", tag = "connections",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")),
    request_body(content = HttpConnectionBody, example = json!({
        "displayName": "Orders", "baseUrl": "https://api.example.com/v1", "auth": {"type": "bearer"},
        "methods": ["GET", "POST"], "pathPrefix": "/orders", "testPath": "/orders?limit=1", "secret": "example-secret",
    })),
    responses((status = 200, body = ConnectionItem))
)]
pub(crate) async fn create_http_connection(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    payload: Payload,
) -> ApiResult<Json<ConnectionItem>> {
    let input = HttpConnectionInput::from(payload.json::<HttpConnectionBody>()?);
    let connection = api
        .transaction(unit!(|tx| {
            let made = connections::connections::create_http_connection(
                tx,
                &ctx,
                &admin,
                api.vault(),
                input.clone(),
            );
            check_ports(&api, made.await?)
        }))
        .await?;
    shown(&api, &ctx, &admin, connection).await
}
