//! Opening or closing a gate.

use application::{Problem, unit};
use axum::extract::State;
use connections::gates::{GateStatus, GateView};
use kernel::{authority::Admin, id::GateId};
use serde::Deserialize;
use utoipa::ToSchema;

use super::view::GateItem;
use crate::{
    auth::{Authorized, Console},
    http::{
        conditional::{IfMatch, Tagged, TaggedItem as _},
        error::ApiResult,
        extract::Payload,
        schemas,
    },
    state::Api,
};

/// The new status of the gate.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetGateStatus {
    #[schema(value_type = schemas::connections::GateStatus)]
    status: GateStatus,
}

/// Open or close a gate
#[utoipa::path(
    patch, path = "/v1/gates/{id}", tag = "gates",
    params(("id" = kernel::id::GateId, Path, description = "The gate."), IfMatch),
    request_body(content = SetGateStatus, example = json!({"status": "closed"})),
    responses((status = 200, body = GateItem))
)]
pub(crate) async fn set_gate_status(
    State(api): State<Api>,
    Authorized(ctx, (gate, admin)): Authorized<Console, (GateId, Admin)>,
    if_match: IfMatch,
    payload: Payload,
) -> ApiResult<Tagged<GateItem>> {
    let input: SetGateStatus = payload.json()?;
    let gate = api
        .transaction(unit!(|tx| {
            if_match.check(GateItem::locked(tx, &admin, gate)).await?;
            let set = connections::gates::set_gate_status(tx, &ctx, &admin, gate, input.status);
            Ok::<_, Problem>(set.await?)
        }))
        .await?;
    let view = connections::gates::view_gate(api.store(), &ctx, &admin, gate.id).await?;
    let view = view.unwrap_or(GateView { gate, apps: Vec::new(), blocked_24h: 0 });
    Ok(Tagged(GateItem::from(view).tagged()?))
}
