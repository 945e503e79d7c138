//! Reading a planned change.

use application::Problem;
use axum::{extract::State, response::Response};
use kernel::{authority::AppAccess, id::ChangeId};

use super::view::ChangeView;
use crate::{
    auth::{Authorized, ReadToken},
    http::{conditional::IfNoneMatch, error::ApiResult},
    state::Api,
};

/// Read a planned change
///
/// You can read only changes that you planned.
#[utoipa::path(
    get, path = "/v1/changes/{changeId}", tag = "apps",
    params(("changeId" = kernel::id::ChangeId, Path, description = "The change."), IfNoneMatch),
    responses((status = 200, body = ChangeView))
)]
pub(crate) async fn read_change(
    State(api): State<Api>,
    Authorized(ctx, (id, access)): Authorized<ReadToken, (ChangeId, AppAccess)>,
    known: IfNoneMatch,
) -> ApiResult<Response> {
    let missing = || Problem::not_found("change");
    let member = access.member();
    let found = api.store().change(member.workspace(), member.user(), id).await?;
    let change = found.ok_or_else(missing)?;
    let app = api.store().app(member.workspace(), change.app).await?.ok_or_else(missing)?;
    let change = api.with_remaining_steps(change).await?;
    Ok(known.respond(ChangeView::of(change, app.name, member.role(), ctx.now))?)
}
