//! Going back to an earlier version.

use application::Problem;
use apps::changes::{MovedAutomation, Remaining};
use axum::{Json, extract::State, http::HeaderMap};
use kernel::{
    authority::{AppRight, CanEdit},
    id::{AppId, AutomationId, VersionId},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
    /// Automations that were paused, moved to an earlier schedule or started.
    automations: Vec<RolledBackAutomation>,
    /// Changes of plans after the version, which stay.
    remains: Vec<RemainingChange>,
}

/// An automation that moved with the version.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RolledBackAutomation {
    id: AutomationId,
    name: String,
    /// `paused`, `moved` or `started`.
    change: &'static str,
    sentence: String,
}

/// Something that a rollback leaves as it is.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RemainingChange {
    /// `sharing`, `name`, `retries` or `secret`.
    subject: &'static str,
    sentence: String,
}

/// Go back to an earlier version
///
/// Moves the app to the version; nothing is built. An automation is paused if only the version that is left declares its trigger;
/// what plans after the version did to schedules is undone, unless somebody touched them since. Runs that have been claimed keep their version. The caller must be
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
    let to: VersionId = version.parse().map_err(|_| Problem::not_found("version"))?;
    let moved = api.roll_back_version(&ctx, &right, to, input.expect_current_version_id).await?;
    let locale = negotiate_locale(&headers);
    let automation = |moved: MovedAutomation| RolledBackAutomation {
        id: moved.id,
        change: moved.change.as_str(),
        sentence: moved.describe(locale),
        name: moved.name,
    };
    let remaining = |it: Remaining| RemainingChange { subject: it.subject(), sentence: it.describe(locale) };
    Ok(Json(RolledBack {
        app_id: moved.rollback.app,
        from_version_id: moved.rollback.from,
        to_version_id: moved.rollback.to,
        trust_score: moved.to.trust_score,
        diff: ManifestDiff::of(&moved.manifest, locale),
        needs_console: moved.needs_console,
        automations: moved.consequences.automations.into_iter().map(automation).collect(),
        remains: moved.consequences.remains.into_iter().map(remaining).collect(),
    }))
}
