//! Liveness of the process.

use axum::Json;
use serde::Serialize;
use utoipa::ToSchema;

/// The process is alive.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// `ok`.
    #[schema(example = "ok")]
    status: &'static str,
}

/// Check liveness
///
/// Responds 200 as long as the process runs. It checks nothing else.
#[utoipa::path(get, path = "/healthz", tag = "health", responses((status = 200, body = Health)))]
pub(crate) async fn check_health() -> Json<Health> {
    Json(Health { status: "ok" })
}
