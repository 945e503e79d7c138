//! Deleting a gate.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::{authority::Admin, id::GateId};

use super::view::GateItem;
use crate::{
    auth::{Authorized, Console},
    http::{conditional::IfMatch, error::ApiResult, views::Ack},
    state::Api,
};

/// Delete a gate
///
/// Apps that name the host cannot reach it any more; runs that have started keep the gates they started with. The gate of a connection
/// is deleted with the connection.
#[utoipa::path(
    delete, path = "/v1/gates/{id}", tag = "gates",
    params(("id" = kernel::id::GateId, Path, description = "The gate."), IfMatch),
    responses((status = 200, body = Ack))
)]
pub(crate) async fn delete_gate(
    State(api): State<Api>,
    Authorized(ctx, (gate, admin)): Authorized<Console, (GateId, Admin)>,
    if_match: IfMatch,
) -> ApiResult<Json<Ack>> {
    api.transaction(unit!(|tx| {
        if_match.check(GateItem::locked(tx, &admin, gate)).await?;
        Ok::<_, Problem>(connections::gates::delete_gate(tx, &ctx, &admin, gate).await?)
    }))
    .await?;
    Ok(Json(Ack::OK))
}
