//! Asking about a run.

use application::Problem;
use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::{
    Context, Locale,
    authority::AppAccess,
    id::{AppId, ConnectionId, RunId, VersionId},
};
use runs::{
    RunStatus,
    diagnosis::{Confidence, Diagnosis, FailureClass, Fix, RunFacts, answer_from_rules, diagnose},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{explain::LocaleQuery, view::VersionRefView};
use crate::{
    auth::{Authorized, ReadToken},
    http::{
        error::ApiResult,
        extract::{Params, Payload},
        schemas,
    },
    state::Api,
};

/// A question about a run.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AskRun {
    /// Question in words. Rules ignore it; a model would read it.
    #[serde(default)]
    #[schema(min_length = 2, max_length = 500)]
    question: Option<String>,
    /// Language of the response. Default: the workspace's.
    #[serde(default)]
    locale: Option<Locale>,
    /// `true` to have only the rules answer. While no model can be connected, only they do.
    #[serde(default)]
    rules_only: Option<bool>,
}

/// Source of an answer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AnswerSource {
    /// The rules.
    Rules,
    /// A model of the workspace.
    #[expect(dead_code, reason = "no model can be connected yet")]
    WorkspaceModel,
    /// A model of the platform.
    #[expect(dead_code, reason = "no model can be connected yet")]
    PlatformModel,
}

/// The answer to a question about a run.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RunAnswer)]
pub(crate) struct RunAnswerView {
    run_id: RunId,
    app_id: AppId,
    app_name: String,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    generated_at: DateTime<Utc>,
    locale: Locale,
    source: AnswerSource,
    /// Model that wrote the answer; null if the rules did.
    #[schema(required)]
    model: Option<String>,
    /// Always false: each answer is made from the current facts.
    cached: bool,
    #[schema(value_type = schemas::runs::RunStatus)]
    status: RunStatus,
    #[schema(required, value_type = Option<schemas::runs::FailureClass>)]
    failure_class: Option<FailureClass>,
    #[schema(value_type = schemas::runs::Confidence)]
    confidence: Confidence,
    /// Summary of what happened.
    #[schema(min_length = 1, max_length = 600)]
    headline: String,
    #[schema(min_length = 1, max_length = 1200)]
    why: String,
    /// Advice on what to do next.
    #[schema(min_length = 1, max_length = 1200)]
    next: String,
    /// Answer to the question; null if you did not ask one.
    #[schema(required, max_length = 2400)]
    answer: Option<String>,
    /// Log lines that support the answer: number, time, source and text.
    #[schema(max_items = 12)]
    evidence: Vec<String>,
    what_changed: WhatChanged,
    #[schema(required)]
    fix: Option<FixView>,
    /// Change that `POST /v1/runs/{id}/change` would plan.
    #[schema(required)]
    suggestion: Option<Suggestion>,
}

/// Differences from the last successful run of the same automation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WhatChanged {
    #[schema(required)]
    last_good: Option<LastGood>,
    /// `true` if the run had another version; null if that is unknown.
    #[schema(required)]
    version_changed: Option<bool>,
    /// `true` if the code differs; null if that is unknown.
    #[schema(required)]
    code_changed: Option<bool>,
    /// Differences between the manifests.
    #[schema(max_items = 12)]
    lines: Vec<String>,
}

/// The last successful run before this one.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LastGood {
    run_id: RunId,
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    finished_at: Option<DateTime<Utc>>,
    #[schema(required)]
    version: Option<VersionRefView>,
}

/// A remedy for the failure.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FixView {
    #[schema(example = "allow_egress")]
    kind: FixKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    connector_id: Option<ConnectionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 253)]
    domain: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version_id: Option<VersionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    version_number: Option<u32>,
}

/// Type of a remedy.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FixKind {
    Reconnect,
    AllowEgress,
    Retry,
    EditApp,
    Rollback,
    Models,
    Capacity,
}

impl From<Fix> for FixView {
    fn from(fix: Fix) -> Self {
        let plain =
            |kind| Self { kind, connector_id: None, domain: None, version_id: None, version_number: None };
        match fix {
            Fix::Reconnect(connector_id) => Self { connector_id, ..plain(FixKind::Reconnect) },
            Fix::AllowEgress(domain) => Self { domain: Some(domain), ..plain(FixKind::AllowEgress) },
            Fix::Retry => plain(FixKind::Retry),
            Fix::EditApp => plain(FixKind::EditApp),
            Fix::Rollback { version, number } => {
                Self { version_id: Some(version), version_number: number, ..plain(FixKind::Rollback) }
            }
            Fix::ConfigureModels => plain(FixKind::Models),
            Fix::IncreaseCapacity => plain(FixKind::Capacity),
        }
    }
}

/// A change that would have let the run succeed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Suggestion {
    kind: SuggestionKind,
    /// Host that the app would be allowed to reach.
    #[schema(min_length = 1, max_length = 253)]
    domain: String,
}

/// Type of a suggested change.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SuggestionKind {
    AllowEgress,
}

impl RunAnswerView {
    fn of(ctx: &Context, facts: RunFacts, locale: Locale, input: &AskRun) -> Self {
        let Diagnosis { explanation, class, confidence, evidence, fix, suggested_host: suggestion } =
            diagnose(&facts, locale);
        let rules_only = input.rules_only == Some(true);
        let answer = input.question.as_ref().map(|_| answer_from_rules(&explanation, rules_only, locale));
        let version_changed = facts.has_version_changed();
        Self {
            run_id: facts.run.id,
            app_id: facts.run.app,
            generated_at: ctx.now,
            locale,
            source: AnswerSource::Rules,
            model: None,
            cached: false,
            status: facts.run.state.status(),
            app_name: facts.run.app_name,
            failure_class: class,
            confidence,
            headline: explanation.what,
            why: explanation.why,
            next: explanation.next,
            answer,
            evidence,
            what_changed: WhatChanged {
                last_good: facts.last_good.map(|good| LastGood {
                    run_id: good.id,
                    finished_at: good.state.finished_at(),
                    version: good.version.map(VersionRefView::from),
                }),
                version_changed,
                code_changed: facts.has_code_changed,
                lines: facts.differences,
            },
            fix: fix.map(FixView::from),
            suggestion: suggestion.map(|domain| Suggestion { kind: SuggestionKind::AllowEgress, domain }),
        }
    }
}

async fn run_answer(
    api: &Api,
    ctx: &Context,
    (id, access): (RunId, AppAccess),
    input: &AskRun,
) -> ApiResult<Json<RunAnswerView>> {
    let locale = api.resolve_locale(access.member().workspace(), input.locale).await?;
    let facts = api.diagnosis_facts(&access, id, locale).await?;
    Ok(Json(RunAnswerView::of(ctx, facts, locale, input)))
}

/// Read the rules' answer about a run
#[utoipa::path(
    get, path = "/v1/runs/{id}/ask", tag = "runs",
    params(("id" = kernel::id::RunId, Path, description = "The run."), LocaleQuery),
    responses((status = 200, body = RunAnswerView))
)]
pub(crate) async fn read_run_answer(
    State(api): State<Api>,
    Authorized(ctx, run): Authorized<ReadToken, (RunId, AppAccess)>,
    Params(input): Params<LocaleQuery>,
) -> ApiResult<Json<RunAnswerView>> {
    run_answer(&api, &ctx, run, &AskRun { locale: input.locale, ..AskRun::default() }).await
}

/// Ask about a run
///
/// If the workspace had a model, it would answer people who can edit the app. None can be connected yet, so the rules
/// answer: `source` is `rules` and `model` is null.
#[utoipa::path(
    post, path = "/v1/runs/{id}/ask", tag = "runs",
    params(("id" = kernel::id::RunId, Path, description = "The run.")),
    request_body(content = AskRun, example = json!({"question": "Why did it fail?", "locale": "en"})),
    responses((status = 200, body = RunAnswerView))
)]
pub(crate) async fn ask_run(
    State(api): State<Api>,
    Authorized(ctx, run): Authorized<ReadToken, (RunId, AppAccess)>,
    payload: Payload,
) -> ApiResult<Json<RunAnswerView>> {
    let input: AskRun = payload.json_or_empty()?;
    if input.question.as_ref().is_some_and(|question| !(2..=500).contains(&question.trim().chars().count())) {
        return Err(Problem::invalid_field("question", "must have 2 to 500 characters").into());
    }
    run_answer(&api, &ctx, run, &input).await
}
