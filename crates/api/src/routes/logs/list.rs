//! Reading the log of an app.

use application::Problem;
use axum::{Json, extract::State};
use chrono::{DateTime, Utc};
use kernel::{
    authority::{AppRight, CanEdit},
    id::{AppId, RunId},
};
use observability::{LogLevel, LogLine, LogQuery, LogSource, logs::RETENTION_DAYS};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    auth::{Authorized, ReadToken},
    http::{error::ApiResult, extract::Params, schemas},
    state::Api,
};

/// Filters of log lines.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListLogLines {
    /// Only lines of at least this level.
    #[param(value_type = Option<schemas::observability::LogLevel>)]
    level: Option<LogLevel>,
    /// Only lines with this text, regardless of case.
    #[param(min_length = 1, max_length = 100)]
    q: Option<String>,
    /// Only lines of this run.
    run_id: Option<RunId>,
    /// Only lines before the line with this id.
    #[param(minimum = 1)]
    before: Option<u64>,
    /// Maximum number of lines.
    #[param(minimum = 1, maximum = 500, default = 200)]
    limit: Option<u32>,
}

/// Lines of an app's log, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LogLines {
    lines: Vec<LogLineView>,
    /// `true` if there are older lines.
    has_more: bool,
    /// Days for which lines are kept.
    #[schema(minimum = 1)]
    keep_days: u32,
}

/// A line of an app's log.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = LogLine)]
pub(crate) struct LogLineView {
    #[schema(minimum = 1)]
    id: u64,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    at: DateTime<Utc>,
    app_id: AppId,
    #[schema(required)]
    run_id: Option<RunId>,
    #[schema(value_type = schemas::observability::LogLevel)]
    level: LogLevel,
    #[schema(value_type = schemas::observability::LogSource)]
    source: LogSource,
    #[schema(max_length = 2000)]
    message: String,
}

impl From<LogLine> for LogLineView {
    fn from(line: LogLine) -> Self {
        Self {
            id: line.id,
            at: line.content.at,
            app_id: line.app,
            run_id: line.run,
            level: line.content.level,
            source: line.content.source,
            message: line.content.message,
        }
    }
}

/// Read the log of an app
#[utoipa::path(
    get, path = "/v1/apps/{id}/logs", tag = "observability",
    params(("id" = kernel::id::AppId, Path, description = "The app."), ListLogLines),
    responses((status = 200, body = LogLines))
)]
pub(crate) async fn list_log_lines(
    State(api): State<Api>,
    Authorized(_ctx, right): Authorized<ReadToken, AppRight<CanEdit>>,
    Params(input): Params<ListLogLines>,
) -> ApiResult<Json<LogLines>> {
    let limit = input.limit.unwrap_or(LogQuery::DEFAULT_LIMIT);
    if !(1..=LogQuery::MAX_LIMIT).contains(&limit) {
        return Err(Problem::invalid_field("limit", "must be from 1 to 500").into());
    }
    if input.q.as_ref().is_some_and(|q| !(1..=100).contains(&q.chars().count())) {
        return Err(Problem::invalid_field("q", "must have 1 to 100 characters").into());
    }
    // No line has it, and not every database accepts it.
    if input.q.as_ref().is_some_and(|q| q.contains('\0')) {
        return Err(Problem::invalid_field("q", "must not contain the character U+0000").into());
    }
    if input.before == Some(0) {
        return Err(Problem::invalid_field("before", "must be 1 or more").into());
    }
    let query = LogQuery {
        level: input.level,
        source: None,
        text: input.q,
        run: input.run_id,
        before: input.before,
        limit,
    };
    let mut lines = api.store().log_lines(right.member().workspace(), right.app(), &query).await?;
    let has_more = lines.len() > limit as usize;
    lines.truncate(limit as usize);
    let lines = lines.into_iter().map(LogLineView::from).collect();
    Ok(Json(LogLines { lines, has_more, keep_days: RETENTION_DAYS }))
}
