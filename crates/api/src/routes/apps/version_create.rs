//! Creating a version.

use std::collections::BTreeMap;

use application::{
    Problem,
    app_versions::{self, CurrentVersion, parse_manifest},
    unit,
};
use apps::{
    AppVersion, VersionKind,
    safe_band::PublishRule,
    versions::{Baseline, Publishing, check_files},
};
use axum::{Json, extract::State};
use kernel::authority::{AppRight, CanEdit, Sharing};
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
    let input: NewVersion = payload.json()?;
    check_files(&input.files)?;
    let (member, rule) = (right.member(), PublishRule::Direct);
    let current = api.read_current_version(&ctx, member, right.app(), rule).await?;
    let baseline = current.map_or_else(Baseline::nothing, |CurrentVersion { baseline, .. }| baseline);
    let manifest = match &input.manifest {
        Some(manifest) => {
            let connected = &baseline.manifest().permissions.connectors;
            parse_manifest(&api, &ctx, member, manifest, connected).await?
        }
        None if baseline.version().is_some() => baseline.manifest().clone(),
        None => return Err(Problem::invalid_field("manifest", "is required for the first version").into()),
    };
    let version = app_versions::NewVersion {
        manifest,
        files: input.files,
        summary: input.summary,
        kind: VersionKind::Edit,
        built_from: None,
        // It stays as it is.
        sharing: Sharing::Private,
        publishing: Publishing { baseline, rule, inherits_manifest: input.manifest.is_none() },
    };
    let version = api.check_version(&ctx, member, version).await?;
    let (app, version, needs_console) = api
        .transaction(unit!(|tx| {
            let right = api.lock_app::<CanEdit>(tx, &ctx, right.app()).await?;
            api.publish_version(tx, &ctx, &right, version.clone()).await
        }))
        .await?;
    let maker = api.store().user(version.created_by).await?;
    let version = AppVersion { created_by_name: maker.map(|maker| maker.name), ..version };
    Ok(Json(MadeVersion { version: VersionView::of(version, app.current_version), needs_console }))
}
