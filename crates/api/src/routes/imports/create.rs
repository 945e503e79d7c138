//! Creating an import.

use axum::{
    Json,
    extract::{Request, State},
};
use kernel::authority::AppCreator;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{MAX_BODY, view::ImportView};
use crate::{
    auth::{Authorized, WriteToken},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// An export to import.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewImport {
    /// The exported workflow: JSON of n8n, Make or Node-RED as text. Minify a longer one.
    #[schema(min_length = 1, max_length = 400000)]
    source: String,
    /// Name of the app. Default: the name of the workflow.
    #[serde(default)]
    #[schema(min_length = 2, max_length = 60)]
    name: Option<String>,
}

/// Import a workflow
///
/// Creates a private app of the workflow with a paused automation. The app asks for no host and no connection until you turn the
/// import on. The export itself is not kept.
#[utoipa::path(
    post, path = "/v1/workspaces/{ws}/imports", tag = "imports",
    params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")),
    request_body(
        content = NewImport,
        example = json!({"name": "Ping", "source": "{\"name\":\"Ping\",\"nodes\":[{\"id\":\"1\",\"name\":\"Every hour\",\"type\":\"n8n-nodes-base.scheduleTrigger\",\"typeVersion\":1.2,\"position\":[0,0],\"parameters\":{\"rule\":{\"interval\":[{\"field\":\"hours\"}]}}}],\"connections\":{}}"})
    ),
    responses((status = 200, body = ImportView))
)]
pub(crate) async fn create_import(
    State(api): State<Api>,
    Authorized(ctx, creator): Authorized<WriteToken, AppCreator>,
    request: Request,
) -> ApiResult<Json<ImportView>> {
    let NewImport { source, name } = Payload::read(request, MAX_BODY).await?.json()?;
    let import = api.create_import(&ctx, &creator, source, name).await?;
    let context = api.import_context(&ctx, &creator, &import.report).await?;
    Ok(Json(ImportView::of(import, context)))
}
