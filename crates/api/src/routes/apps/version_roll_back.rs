//! Going back to an earlier version.

use application::{Problem, ProblemKind, unit};
use apps::{
    manifest::diff::diff_manifests,
    versions::{RollBack, VersionContent},
};
use axum::{Json, extract::State, http::HeaderMap};

use kernel::{
    authority::{AppRight, CanEdit},
    id::{AppId, VersionId},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{connectors::check_connectors, gates::create_gates, version_create::check_projects};
use crate::{
    auth::{Authorized, WriteToken},
    http::{
        error::ApiResult,
        extract::{Path, Payload},
        pages::negotiate_locale,
    },
    routes::changes::view::ManifestDiff,
    state::Api,
};

/// The version from which the app goes back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RollBackRequest {
    /// Version that is current now. If another one is, nothing changes, and the response is 409 `stale_version`.
    expect_current_version_id: VersionId,
}

/// The move to an earlier version.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RolledBack {
    app_id: AppId,
    from_version_id: VersionId,
    to_version_id: VersionId,
    /// Trust score of the version that is current now.
    #[schema(maximum = 100)]
    trust_score: u8,
    /// Differences between the manifests, from the version before to the one that is current now, with sentences in the
    /// language of the request's `Accept-Language`.
    diff: ManifestDiff,
    /// Steps that an admin has to take in the console before the app can use everything in its manifest.
    needs_console: Vec<String>,
}

/// Go back to an earlier version
///
/// Moves the app to the version; nothing is built. Runs that have been claimed keep their version. The caller must be
/// allowed to give the app what the version has and the current one does not: its projects and connections.
#[utoipa::path(
    post, path = "/v1/apps/{id}/versions/{versionId}/rollback", tag = "apps",
    params(
        ("id" = kernel::id::AppId, Path, description = "The app."),
        ("versionId" = kernel::id::VersionId, Path, description = "The version to go back to."),
        ("Accept-Language" = Option<String>, Header, description = "Language of the sentences: `en`, `ru` or `kk`."),
    ),
    request_body(
        content = RollBackRequest,
        example = json!({"expectCurrentVersionId": "ver_01m1rbqcgcexkt5qt1rdxp1d0m"})
    ),
    responses((status = 200, body = RolledBack))
)]
pub(crate) async fn roll_back_version(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<WriteToken, AppRight<CanEdit>>,
    Path((_id, version)): Path<(String, String)>,
    headers: HeaderMap,
    payload: Payload,
) -> ApiResult<Json<RolledBack>> {
    let input: RollBackRequest = payload.json()?;
    let missing = || Problem::not_found("version");
    let (workspace, app) = (right.member().workspace(), right.app());
    let find = async |version: VersionId| api.store().version(workspace, app, version).await;
    let (to, VersionContent { manifest, .. }) =
        find(version.parse().map_err(|_| missing())?).await?.ok_or_else(missing)?;
    let current = find(input.expect_current_version_id).await?;
    let (_, current) = current.ok_or_else(|| Problem::from(apps::AppError::StaleVersion))?;
    let granted = &current.manifest.permissions;
    let usable = async {
        check_projects(&api, &ctx, workspace, &manifest, &granted.data).await?;
        check_connectors(&api, &ctx, right.member(), &manifest, &granted.connectors).await
    };
    usable.await.map_err(as_unusable)?;

    let diff = diff_manifests(&current.manifest, &manifest);
    let request = RollBack { to, manifest, expected_current: input.expect_current_version_id };
    let (rollback, needs_console) = api
        .transaction(unit!(|tx| {
            let needs_console = create_gates(&api, tx, &ctx, right.member(), &request.manifest).await?;
            let (_, rollback) = apps::versions::roll_back(tx, &ctx, &right, request.clone()).await?;
            Ok::<_, Problem>((rollback, needs_console))
        }))
        .await?;
    Ok(Json(RolledBack {
        app_id: rollback.app,
        from_version_id: rollback.from,
        to_version_id: rollback.to,
        trust_score: request.to.trust_score,
        diff: ManifestDiff::of(&diff, negotiate_locale(&headers)),
        needs_console,
    }))
}

/// The version was allowed once: what is wrong with it now is no mistake in the request.
fn as_unusable(problem: Problem) -> Problem {
    match problem.kind {
        ProblemKind::Invalid | ProblemKind::NotFound => {
            let message = format!("The version cannot be used any more: {}", problem.message);
            Problem::conflict("version_unusable", message)
                .hint("Create a version from its files with a manifest that fits.")
        }
        _ => problem,
    }
}
