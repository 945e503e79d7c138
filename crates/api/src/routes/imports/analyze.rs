//! Analysing an export.

use axum::{
    Json,
    extract::{Request, State},
};
use kernel::authority::AppCreator;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{
    MAX_BODY,
    view::{ImportContextView, ImportReport},
};
use crate::{
    auth::{Authorized, WriteToken},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// An export to analyse.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportSource {
    /// The exported workflow: JSON of n8n, Make or Node-RED as text. Minify a longer one.
    #[schema(min_length = 1, max_length = 400000)]
    source: String,
}

/// A report on an export, and what the workspace has for it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AnalyzedImport {
    report: ImportReport,
    context: ImportContextView,
}

/// Analyze an export
///
/// Reads a workflow of n8n, a blueprint of Make or flows of Node-RED, and reports for each step what an app would keep of it. Nothing
/// is kept.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/imports/analyze", tag = "imports",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")),
    request_body(
        content = ImportSource,
        example = json!({"source": "{\"name\":\"Ping\",\"nodes\":[{\"id\":\"1\",\"name\":\"Every hour\",\"type\":\"n8n-nodes-base.scheduleTrigger\",\"typeVersion\":1.2,\"position\":[0,0],\"parameters\":{\"rule\":{\"interval\":[{\"field\":\"hours\"}]}}}],\"connections\":{}}"})
    ),
    responses((status = 200, body = AnalyzedImport))
)]
pub(crate) async fn analyze_import(
    State(api): State<Api>,
    Authorized(ctx, creator): Authorized<WriteToken, AppCreator>,
    request: Request,
) -> ApiResult<Json<AnalyzedImport>> {
    let ImportSource { source } = Payload::read(request, MAX_BODY).await?.json()?;
    let analysis = api.analyze_import(&ctx, &creator, source).await?;
    let context = api.import_context(&ctx, &creator, &analysis.report).await?;
    Ok(Json(AnalyzedImport { report: analysis.report.into(), context: context.into() }))
}
