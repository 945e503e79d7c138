//! Opening or closing a gate.

use axum::{Json, extract::State};
use connections::gates::{GateStatus, GateView};
use kernel::{Problem, id::GateId};
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::GateItem;
use crate::{
    envelope::ApiResult,
    extract::{Ctx, Path, Payload},
    state::Api,
};

/// Whether the gate lets anything through.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetGateStatus {
    status: GateStatus,
}

/// Open or close a gate
#[utoipa::path(patch, path = "/v1/gates/{id}", tag = "gates", params(("id" = kernel::id::GateId, Path, description = "The gate.")), request_body(content = SetGateStatus, example = json!({"status": "closed"})), responses((status = 200, body = GateItem)))]
pub(crate) async fn set_gate_status(
    State(api): State<Api>,
    ctx: Ctx,
    Path(id): Path<String>,
    payload: Payload,
) -> ApiResult<Json<GateItem>> {
    let missing = || Problem::not_found("gate");
    let gate: GateId = id.parse().map_err(|_| missing())?;
    let workspace = api.store().gate_scope(gate).await?.ok_or_else(missing)?;
    let member = api.member_or_hidden(&ctx, workspace, "gate").await?;
    let admin = member.require_admin()?;
    let input: SetGateStatus = payload.json()?;
    let mut tx = api.store().begin().await?;
    let connections: &mut dyn connections::ConnectionsTx = &mut *tx;
    let gate = connections::gates::set_gate_status(connections, &ctx, &admin, gate, input.status).await?;
    tx.commit().await?;
    let views = connections::gates::list_gates(api.store(), &ctx, &admin).await?;
    let view = views.into_iter().find(|view| view.gate.id == gate.id);
    Ok(Json(view.unwrap_or(GateView { gate, apps: Vec::new(), blocked_24h: 0 }).into()))
}
