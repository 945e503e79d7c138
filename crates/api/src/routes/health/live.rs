//! Whether the process lives.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

/// That the process lives.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`.
    #[schema(example = "ok")]
    status: &'static str,
}

/// Whether the process lives
///
/// It touches nothing else.
#[utoipa::path(get, path = "/healthz", tag = "health", responses((status = 200, body = Health)))]
pub(crate) async fn check_health() -> Json<Health> {
    Json(Health { status: "ok" })
}
