//! Reading a version with its content.

use application::Problem;
use kernel::authority::AppAccess;
use std::collections::BTreeMap;

use apps::Manifest;
use axum::{extract::State, response::Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::VersionView;
use crate::{
    auth::{Authorized, ReadToken},
    http::{
        conditional::{IfNoneMatch, Representation},
        error::ApiResult,
        extract::Path,
        schemas,
    },
    state::Api,
};

/// A version with its manifest and files.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VersionWithContent {
    #[serde(flatten)]
    version: VersionView,
    #[schema(value_type = schemas::apps::Manifest)]
    manifest: Manifest,
    /// Source text by path.
    files: BTreeMap<String, String>,
}

impl Representation for VersionWithContent {}

/// Read a version with its manifest and files
#[utoipa::path(
    get, path = "/v1/apps/{id}/versions/{versionId}", tag = "apps",
    params(
        ("id" = kernel::id::AppId, Path, description = "The app."),
        ("versionId" = kernel::id::VersionId, Path, description = "The version."),
        IfNoneMatch
    ),
    responses((status = 200, body = VersionWithContent))
)]
pub(crate) async fn read_version(
    State(api): State<Api>,
    Authorized(_ctx, access): Authorized<ReadToken, AppAccess>,
    Path((_id, version)): Path<(String, String)>,
    known: IfNoneMatch,
) -> ApiResult<Response> {
    let missing = || Problem::not_found("version");
    let workspace = access.member().workspace();
    let version = version.parse().map_err(|_| missing())?;
    let app = api.store().app(workspace, access.app()).await?.ok_or_else(|| Problem::not_found("app"))?;
    let (version, content) = api.store().version(workspace, app.id, version).await?.ok_or_else(missing)?;
    Ok(known.respond(VersionWithContent {
        version: VersionView::of(version, app.current_version),
        manifest: content.manifest,
        files: content.files,
    })?)
}
