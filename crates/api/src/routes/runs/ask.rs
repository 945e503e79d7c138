//! Asking about a run.

use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::{
    Context, Locale, Problem,
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
    },
    state::Api,
};

/// What is asked.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AskRun {
    /// A question in words. Rules do not read it; a model would.
    #[serde(default)]
    #[schema(min_length = 2, max_length = 500)]
    question: Option<String>,
    /// Language of the response. Default: the workspace's.
    #[serde(default)]
    locale: Option<Locale>,
    /// Whether only the rules may answer. While no model is connected, only they do.
    #[serde(default)]
    rules_only: Option<bool>,
}

/// Who wrote an answer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AnswerSource {
    /// The rules.
    Rules,
    /// A model of the workspace's.
    #[expect(dead_code, reason = "no model can be connected yet")]
    WorkspaceModel,
    /// A model of the platform's.
    #[expect(dead_code, reason = "no model can be connected yet")]
    PlatformModel,
}

/// What is said of a run.
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
    /// The model that wrote it; none while the rules do.
    #[schema(required)]
    model: Option<String>,
    /// Always false: every answer is made from the facts as they stand.
    cached: bool,
    status: RunStatus,
    #[schema(required)]
    failure_class: Option<FailureClass>,
    confidence: Confidence,
    /// What happened.
    #[schema(min_length = 1, max_length = 600)]
    headline: String,
    #[schema(min_length = 1, max_length = 1200)]
    why: String,
    /// What to do.
    #[schema(min_length = 1, max_length = 1200)]
    next: String,
    /// An answer to the question; null when none was asked.
    #[schema(required, max_length = 2400)]
    answer: Option<String>,
    /// Lines of log that it rests on: number, time, who said it, and the line.
    #[schema(max_items = 12)]
    evidence: Vec<String>,
    what_changed: WhatChanged,
    #[schema(required)]
    fix: Option<FixView>,
    /// What `POST /v1/runs/{id}/change` would plan.
    #[schema(required)]
    suggestion: Option<Suggestion>,
}

/// What differs from the last good run of the same automation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WhatChanged {
    #[schema(required)]
    last_good: Option<LastGood>,
    /// Null when it cannot be told.
    #[schema(required)]
    version_changed: Option<bool>,
    /// Null when it cannot be told.
    #[schema(required)]
    code_changed: Option<bool>,
    /// In what the manifests differ.
    #[schema(max_items = 12)]
    lines: Vec<String>,
}

/// The last run that succeeded before this one.
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

/// What may be done about it.
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

/// What kind of thing may be done.
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

/// A change that would have let the run through.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Suggestion {
    kind: SuggestionKind,
    /// The host to let the app reach.
    #[schema(min_length = 1, max_length = 253)]
    domain: String,
}

/// What kind of change it is.
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

/// Ask the rules about a run
#[utoipa::path(get, path = "/v1/runs/{id}/ask", tag = "runs", params(("id" = kernel::id::RunId, Path, description = "The run."), LocaleQuery), responses((status = 200, body = RunAnswerView)))]
pub(crate) async fn read_run_answer(
    State(api): State<Api>,
    Authorized(ctx, run): Authorized<ReadToken, (RunId, AppAccess)>,
    Params(input): Params<LocaleQuery>,
) -> ApiResult<Json<RunAnswerView>> {
    run_answer(&api, &ctx, run, &AskRun { locale: input.locale, ..AskRun::default() }).await
}

/// Ask about a run
///
/// A model would answer whoever can edit the app, when the workspace has one. None can be connected yet, so the rules
/// answer, and the answer says so: `source` is `rules` and `model` is null.
#[utoipa::path(post, path = "/v1/runs/{id}/ask", tag = "runs", params(("id" = kernel::id::RunId, Path, description = "The run.")), request_body(content = AskRun, example = json!({"question": "Why did it fail?", "locale": "en"})), responses((status = 200, body = RunAnswerView)))]
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
