//! Readiness of the server.

use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{http::error::ApiResult, state::Api};

/// The server is ready.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Readiness {
    /// `ready`.
    #[schema(example = "ready")]
    status: &'static str,
}

/// Check readiness
///
/// Responds 200 if the database responds, its schema is up to date, and the disk has kept all writes so far.
#[utoipa::path(get, path = "/readyz", tag = "health", responses((status = 200, body = Readiness), (status = 503, description = "The server is not ready.", body = crate::http::error::ErrorEnvelope)))]
pub(crate) async fn check_readiness(State(api): State<Api>) -> ApiResult<Json<Readiness>> {
    api.store().check().await?;
    Ok(Json(Readiness { status: "ready" }))
}
