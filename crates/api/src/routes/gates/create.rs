//! Creating a gate.

use application::unit;
use axum::{Json, extract::State};
use connections::gates::{CreateGate, GateView, Method};
use kernel::authority::Admin;
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::GateItem;
use crate::{
    auth::{Authorized, Console},
    http::{conditional::TaggedItem as _, error::ApiResult, extract::Payload, schemas},
    state::Api,
};

/// A new gate.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewGate {
    /// Name of the host, without scheme, port and path.
    #[schema(min_length = 3, max_length = 253, example = "api.example.com")]
    host: String,
    /// Methods that the gate allows. Default: all.
    #[serde(default)]
    #[schema(value_type = Option<Vec<schemas::connections::Method>>, min_items = 1, max_items = 7)]
    methods: Option<Vec<Method>>,
    /// Default: the host.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 60)]
    name: Option<String>,
}

/// Create a gate
///
/// The gate is open: apps whose manifest names the host can reach it with the gate's methods. A workspace has at most one gate to a
/// host, beside those of connections, and at most 500.
#[utoipa::path(post, path = "/v1/workspaces/{ws}/gates", tag = "gates",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")),
    request_body(content = NewGate, example = json!({"host": "api.example.com", "methods": ["GET", "POST"], "name": "Orders"})),
    responses((status = 200, body = GateItem))
)]
pub(crate) async fn create_gate(
    State(api): State<Api>,
    Authorized(ctx, admin): Authorized<Console, Admin>,
    payload: Payload,
) -> ApiResult<Json<GateItem>> {
    let NewGate { host, methods, name } = payload.json()?;
    let input = CreateGate { host, methods, name };
    let gate = api
        .transaction(unit!(|tx| connections::gates::create_gate(tx, &ctx, &admin, input.clone()).await))
        .await?;
    let view = connections::gates::view_gate(api.store(), &ctx, &admin, gate.id).await?;
    let view = view.unwrap_or(GateView { gate, apps: Vec::new(), blocked_24h: 0 });
    Ok(Json(GateItem::from(view).tagged()?))
}
