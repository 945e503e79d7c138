//! Reading a version with its content.

use application::Problem;
use kernel::{Locale, authority::AppAccess};
use std::collections::BTreeMap;

use apps::{
    Manifest,
    trust::{TrustFinding, TrustRule, assess},
};
use axum::{extract::State, http::HeaderMap, response::Response};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::VersionView;
use crate::{
    auth::{Authorized, ReadToken},
    http::{
        conditional::{IfNoneMatch, Representation},
        error::ApiResult,
        extract::Path,
        pages::negotiate_locale,
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
    /// Source text by path; empty if the version is not `runnable`.
    files: BTreeMap<String, String>,
    /// Reasons that took points off the trust score; null if the version was scored by the rules of another release, or is not
    /// `runnable`.
    #[schema(required)]
    trust_reasons: Option<Vec<TrustReason>>,
}

/// A rule that took points off a trust score.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TrustReason {
    #[schema(value_type = schemas::apps::TrustRule)]
    rule: TrustRule,
    #[schema(minimum = 1, maximum = 100)]
    points: u8,
    /// Number of what was found: hosts, connections, secrets or projects; KiB of the rule `size`.
    count: usize,
    /// File or host that shows it.
    #[schema(required)]
    example: Option<String>,
    /// The reason in the language of `Accept-Language`.
    sentence: String,
}

impl TrustReason {
    fn of(finding: TrustFinding, locale: Locale) -> Self {
        Self {
            sentence: finding.describe(locale),
            rule: finding.rule,
            points: finding.points,
            count: finding.count,
            example: finding.example,
        }
    }
}

impl Representation for VersionWithContent {}

/// Read a version with its manifest and files
#[utoipa::path(
    get, path = "/v1/apps/{id}/versions/{versionId}", tag = "apps",
    params(
        ("id" = kernel::id::AppId, Path, description = "The app."),
        ("versionId" = kernel::id::VersionId, Path, description = "The version."),
        ("Accept-Language" = Option<String>, Header, description = "Language of the sentences: `en`, `ru` or `kk`."),
        IfNoneMatch
    ),
    responses((status = 200, body = VersionWithContent))
)]
pub(crate) async fn read_version(
    State(api): State<Api>,
    Authorized(_ctx, access): Authorized<ReadToken, AppAccess>,
    Path((_id, version)): Path<(String, String)>,
    known: IfNoneMatch,
    headers: HeaderMap,
) -> ApiResult<Response> {
    let missing = || Problem::not_found("version");
    let workspace = access.member().workspace();
    let version = version.parse().map_err(|_| missing())?;
    let app = api.store().app(workspace, access.app()).await?.ok_or_else(|| Problem::not_found("app"))?;
    let (version, content) = api.store().version(workspace, app.id, version).await?.ok_or_else(missing)?;
    let assessment = assess(&content.manifest, &content.files);
    let locale = negotiate_locale(&headers);
    let reasons = assessment.findings.into_iter().map(|finding| TrustReason::of(finding, locale));
    Ok(known.respond(VersionWithContent {
        trust_reasons: (version.is_runnable && assessment.score == version.trust_score)
            .then(|| reasons.collect()),
        version: VersionView::of(version, app.current_version),
        manifest: content.manifest,
        files: content.files,
    })?)
}
