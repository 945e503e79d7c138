//! Creating a version.

use std::collections::BTreeMap;

use application::{
    Problem,
    app_versions::{check_code, check_connectors, check_projects, create_gates, parse_manifest},
    unit,
};
use apps::{
    Manifest, VersionKind,
    versions::{CreateVersion, check_files},
};
use axum::{Json, extract::State};
use kernel::authority::{AppAccess, AppRight, CanEdit};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::view::VersionView;
use crate::{
    auth::{Authorized, WriteToken},
    http::{error::ApiResult, extract::Payload, schemas},
    state::Api,
};

/// A new version.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewVersion {
    /// Manifest of the version. Default: that of the current version.
    #[serde(default)]
    #[schema(value_type = Option<schemas::apps::NewManifest>)]
    manifest: Option<serde_json::Value>,
    /// Source text by path; `main.js` or `main.ts` is an ES module whose default export holds the handlers.
    #[schema(example = json!({"main.js": "export default { async scheduled(event) { console.log(event.data) } }"}))]
    files: BTreeMap<String, String>,
    #[serde(default)]
    #[schema(min_length = 1, max_length = 300)]
    summary: Option<String>,
}

/// The new version.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MadeVersion {
    #[serde(flatten)]
    version: VersionView,
    /// Steps that an admin has to take in the console before the app can use everything in its manifest.
    needs_console: Vec<String>,
}

/// Create a version
///
/// The version is checked and built, and becomes current at once. For each host in its manifest that has no gate, a
/// gate is created: open if an admin sends the request from the console, otherwise closed and listed in `needsConsole`.
#[utoipa::path(
    post, path = "/v1/apps/{id}/versions", tag = "apps",
    params(("id" = kernel::id::AppId, Path, description = "The app.")),
    request_body(
        content = NewVersion,
        example = json!({
            "files": {"main.js": "export default { async scheduled(event) { console.log(event.data) } }"},
            "summary": "Log what came in"
        })
    ),
    responses((status = 200, body = MadeVersion))
)]
pub(crate) async fn create_version(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<WriteToken, AppRight<CanEdit>>,
    payload: Payload,
) -> ApiResult<Json<MadeVersion>> {
    let workspace = right.member().workspace();
    let input: NewVersion = payload.json()?;
    check_files(&input.files)?;
    let current = current_manifest(&api, &right).await?;
    let granted = current.as_ref().map_or(&[][..], |manifest| &manifest.permissions.data).to_vec();
    let connected = current.as_ref().map_or(&[][..], |manifest| &manifest.permissions.connectors).to_vec();
    let manifest = match &input.manifest {
        Some(manifest) => parse_manifest(&api, &ctx, right.member(), manifest, &connected).await?,
        None => {
            current.ok_or_else(|| Problem::invalid_field("manifest", "is required for the first version"))?
        }
    };
    check_projects(&api, &ctx, workspace, &manifest, &granted).await?;
    check_connectors(&api, &ctx, right.member(), &manifest, &connected).await?;
    check_code(&api, &ctx, workspace, &input.files).await?;

    let version = CreateVersion {
        manifest,
        files: input.files,
        summary: input.summary,
        kind: VersionKind::Edit,
        built_from: None,
    };
    let (app, version, needs_console) = api
        .transaction(unit!(|tx| {
            let needs_console = create_gates(&api, tx, &ctx, right.member(), &version.manifest).await?;
            let (app, version) = apps::versions::create_version(tx, &ctx, &right, version.clone()).await?;
            Ok::<_, Problem>((app, version, needs_console))
        }))
        .await?;
    Ok(Json(MadeVersion { version: VersionView::of(version, app.current_version), needs_console }))
}

async fn current_manifest(api: &Api, access: &AppAccess) -> Result<Option<Manifest>, Problem> {
    let workspace = access.member().workspace();
    let app = api.store().app(workspace, access.app()).await?.ok_or_else(|| Problem::not_found("app"))?;
    let Some(current) = app.current_version else { return Ok(None) };
    let found = api.store().version(workspace, app.id, current).await?;
    Ok(found.map(|(_, content)| content.manifest))
}
