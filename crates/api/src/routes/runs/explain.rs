//! Explaining a run: what happened, why, and what to do next.

use axum::{Json, extract::State};
use kernel::{Locale, authority::AppAccess, id::RunId};
use runs::diagnosis::diagnose;
use serde::Deserialize;
use utoipa::IntoParams;

use super::view::ExplanationView;
use crate::{
    auth::{Authorized, ReadToken},
    http::{error::ApiResult, extract::Params},
    state::Api,
};

/// Language of the explanation.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LocaleQuery {
    /// Language of the response. Default: the workspace's.
    pub(super) locale: Option<Locale>,
}

/// Explain a run
///
/// Rules make the explanation from what is stored about the run.
#[utoipa::path(
    get, path = "/v1/runs/{id}/explain", tag = "runs",
    params(("id" = kernel::id::RunId, Path, description = "The run."), LocaleQuery),
    responses((status = 200, body = ExplanationView))
)]
pub(crate) async fn explain_run(
    State(api): State<Api>,
    Authorized(_ctx, (id, access)): Authorized<ReadToken, (RunId, AppAccess)>,
    Params(input): Params<LocaleQuery>,
) -> ApiResult<Json<ExplanationView>> {
    let locale = api.resolve_locale(access.member().workspace(), input.locale).await?;
    let facts = api.diagnosis_facts(&access, id, locale).await?;
    Ok(Json(diagnose(&facts, locale).explanation.into()))
}
