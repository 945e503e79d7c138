//! Starting an authorization in a browser.

use std::collections::BTreeMap;

use application::Problem;
use axum::{
    Json,
    extract::State,
    http::{HeaderValue, header},
};
use connections::connections::{AuthorizationInput, start_authorization};
use kernel::{Caller, authority::Admin, id::ConnectionId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{authorization_cookie, callback::redirect_uri, create::check_allowed};
use crate::{
    auth::{Authorized, Console},
    http::{
        error::ApiResult,
        extract::{Path, Payload},
    },
    state::Api,
};

/// A connection that a person allows in a browser.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewAuthorization {
    #[schema(min_length = 1, max_length = 60, example = "Team mail")]
    display_name: String,
    /// Values of the connector's fields.
    #[serde(default)]
    values: BTreeMap<String, String>,
    /// Connection to connect again; default: a new one.
    #[serde(default)]
    connection_id: Option<ConnectionId>,
}

/// Where the person allows access.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartedAuthorization {
    /// URL that the browser opens next.
    #[schema(format = "uri")]
    redirect_to: String,
}

/// Start to connect a service in a browser
///
/// For connectors that are connected by a person's permission. The browser that sent the request opens `redirectTo` within 10
/// minutes, and returns to `GET /v1/connectors/callback`.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/connectors/{connectorId}/authorize", tag = "connections",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ("connectorId" = String, Path, description = "The connector, as in the catalogue.", example = "gmail")),
    request_body(content = NewAuthorization, example = json!({"displayName": "Team mail"})),
    responses((status = 200, body = StartedAuthorization, headers(("Set-Cookie" = String, description = "Binds the authorization to this browser."))))
)]
pub(crate) async fn start_connection_authorization(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    Path((_, connector)): Path<(String, String)>,
    payload: Payload,
) -> ApiResult<([(header::HeaderName, HeaderValue); 1], Json<StartedAuthorization>)> {
    let Caller::Session(session) = &ctx.caller else { return Err(Problem::unauthorized().into()) };
    let NewAuthorization { display_name, values, connection_id } = payload.json()?;
    check_allowed(&api, &admin, &connector).await?;
    let input = AuthorizationInput { display_name, values, connection: connection_id };
    let place = (connector.as_str(), redirect_uri(&api));
    let (pending, url) =
        start_authorization(api.store(), &ctx, &admin, api.oauth_apps(), (place.0, &place.1), input)
            .await
            .map_err(Problem::from)?;
    let cookie = authorization_cookie::seal_cookie(&api, session.session, &pending, ctx.now)?;
    Ok(([(header::SET_COOKIE, cookie)], Json(StartedAuthorization { redirect_to: url.into() })))
}
