//! Whether the server can serve.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{http::error::ApiResult, state::Api};

/// That the server can serve.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Readiness {
    /// `ready`.
    #[schema(example = "ready")]
    status: &'static str,
}

/// Whether the server can serve
///
/// The database answers, its schema is up to date, and the disk has kept everything so far.
#[utoipa::path(get, path = "/readyz", tag = "health", responses((status = 200, body = Readiness), (status = 503, description = "It cannot.", body = crate::http::error::ErrorEnvelope)))]
pub(crate) async fn check_readiness(State(api): State<Api>) -> ApiResult<Json<Readiness>> {
    api.store().check().await?;
    Ok(Json(Readiness { status: "ready" }))
}
