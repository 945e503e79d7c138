//! What became of a run, why, and what to do.

use axum::{Json, extract::State};
use kernel::Locale;
use runs::diagnosis::{Explanation, diagnose};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::{
    auth::Ctx,
    http::{
        error::ApiResult,
        extract::{Params, Path},
    },
    state::Api,
};

/// In which language.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LocaleQuery {
    /// The workspace's language when not said.
    pub(super) locale: Option<Locale>,
}

/// Explain a run
///
/// By rules over what is stored about it.
#[utoipa::path(get, path = "/v1/runs/{id}/explain", tag = "runs", params(("id" = kernel::id::RunId, Path, description = "The run."), LocaleQuery), responses((status = 200, body = Explanation)))]
pub(crate) async fn explain_run(
    State(api): State<Api>,
    ctx: Ctx,
    Path(id): Path<String>,
    Params(input): Params<LocaleQuery>,
) -> ApiResult<Json<Explanation>> {
    let (id, access) = api.run(&ctx, &id).await?;
    let locale = api.resolve_locale(access.member().workspace(), input.locale).await?;
    let facts = api.diagnosis_facts(&access, id, locale).await?;
    Ok(Json(diagnose(&facts, locale).explanation))
}
