//! The caller's own tokens.

use axum::{Json, extract::State};

use super::view::TokenRecord;
use crate::{
    envelope::ApiResult,
    extract::{Ctx, Path},
    state::Api,
};

/// List the caller's own tokens in a workspace
#[utoipa::path(get, path = "/v1/workspaces/{ws}/tokens", tag = "tokens", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), responses((status = 200, body = Vec<TokenRecord>)))]
pub(crate) async fn list_tokens(
    State(api): State<Api>,
    ctx: Ctx,
    Path(ws): Path<String>,
) -> ApiResult<Json<Vec<TokenRecord>>> {
    let member = api.member(&ctx, &ws).await?;
    let tokens = api.store().tokens(member.workspace(), member.user()).await?;
    Ok(Json(tokens.into_iter().map(TokenRecord::from).collect()))
}
