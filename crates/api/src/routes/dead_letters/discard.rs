//! Discarding a dead letter.

use application::{Problem, unit};
use axum::{Json, extract::State};
use kernel::{
    authority::{AppRight, CanEdit},
    id::DeadLetterId,
};
use runs::dead_letters::discard_open_dead_letter;

use super::view::DeadLetterView;
use crate::{
    auth::{Authorized, Console},
    http::error::ApiResult,
    state::Api,
};

/// Discard a dead letter
///
/// It is kept for a week as a record.
#[utoipa::path(post, path = "/v1/dead-letters/{id}/discard", tag = "runs", params(("id" = kernel::id::DeadLetterId, Path, description = "The dead letter.")), responses((status = 200, body = DeadLetterView)))]
pub(crate) async fn discard_dead_letter(
    State(api): State<Api>,
    Authorized(ctx, (id, right)): Authorized<Console, (DeadLetterId, AppRight<CanEdit>)>,
) -> ApiResult<Json<DeadLetterView>> {
    api.transaction(unit!(|tx| discard_open_dead_letter(tx, &ctx, &right, id).await)).await?;
    let found = api.store().dead_letter(right.member().workspace(), id).await?;
    let (dead_letter, _) = found.ok_or_else(|| Problem::not_found("dead letter"))?;
    Ok(Json(DeadLetterView::of(dead_letter, true)))
}
