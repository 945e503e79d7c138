//! Comparing two versions.

use apps::versions::FileDifference;
use axum::{Json, extract::State, http::HeaderMap};
use kernel::{authority::AppAccess, id::VersionId};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::view::VersionView;
use crate::{
    auth::{Authorized, ReadToken},
    http::{
        error::ApiResult,
        extract::{Params, Path},
        pages::negotiate_locale,
    },
    routes::changes::view::ManifestDiff,
    state::Api,
};

/// The versions to compare.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct CompareVersions {
    /// Id of the later version.
    to: VersionId,
    /// Id of the earlier version. Default: the version that was current before `to` was created; of the first version, itself.
    from: Option<VersionId>,
}

/// The differences between two versions.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct VersionComparison {
    from: VersionView,
    to: VersionView,
    /// Differences between the manifests, with sentences in the language of the request's `Accept-Language`.
    diff: ManifestDiff,
    /// Files that differ, by path; empty if one of the versions is not `runnable`, since its files are deleted.
    files: Vec<FileDiff>,
}

/// A file that differs.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileDiff {
    path: String,
    /// `added`, `removed` or `changed`.
    change: &'static str,
    lines_added: usize,
    lines_removed: usize,
    /// Unified diff with three lines of context; null once the diffs have 512 KiB together.
    #[schema(required)]
    unified: Option<String>,
}

impl From<FileDifference> for FileDiff {
    fn from(found: FileDifference) -> Self {
        Self {
            path: found.path,
            change: found.change.as_str(),
            lines_added: found.lines_added,
            lines_removed: found.lines_removed,
            unified: found.unified,
        }
    }
}

/// Compare two versions of an app
///
/// Names what the app may do in one version and not in the other, and the lines of the files that differ.
#[utoipa::path(
    get, path = "/v1/apps/{id}/versions/compare", tag = "apps",
    params(
        ("id" = kernel::id::AppId, Path, description = "The app."),
        CompareVersions,
        ("Accept-Language" = Option<String>, Header, description = "Language of the sentences: `en`, `ru` or `kk`."),
    ),
    responses((status = 200, body = VersionComparison))
)]
pub(crate) async fn compare_versions(
    State(api): State<Api>,
    Authorized(_ctx, access): Authorized<ReadToken, AppAccess>,
    Path(_id): Path<String>,
    Params(input): Params<CompareVersions>,
    headers: HeaderMap,
) -> ApiResult<Json<VersionComparison>> {
    let compared = api.version_differences(&access, input.to, input.from).await?;
    Ok(Json(VersionComparison {
        from: VersionView::of(compared.from, compared.current),
        to: VersionView::of(compared.to, compared.current),
        diff: ManifestDiff::of(&compared.manifest, negotiate_locale(&headers)),
        files: compared.files.into_iter().map(FileDiff::from).collect(),
    }))
}
