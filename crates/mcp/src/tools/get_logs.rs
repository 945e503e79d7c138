//! `get_logs`: returns the log of an app.

use application::{Application, Problem};
use kernel::{Context, authority::CanEdit, id::RunId};
use observability::{LogLevel, LogQuery};
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

use super::UNTRUSTED_CONTENT_NOTICE;

pub(super) const NAME: &str = "get_logs";
const DEFAULT_LIMIT: u32 = 100;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    app_id: String,
    run_id: Option<RunId>,
    level: Option<LogLevel>,
    q: Option<String>,
    before: Option<u64>,
    limit: Option<u32>,
}

pub(super) fn definition() -> Tool {
    super::read_only_tool(
        NAME,
        "Get logs",
        "Returns the log of an app that your person can edit, newest line first. While hasMore is true, call again with the \
         id of the last line as before.",
        json!({
            "appId": { "type": "string", "description": "Id of the app, from list_apps." },
            "runId": { "type": "string", "description": "Id of a run; only its lines are returned." },
            "level": {
                "type": "string", "enum": ["debug", "info", "warn", "error"],
                "description": "Lowest level to return.",
            },
            "q": { "type": "string", "minLength": 1, "maxLength": 100, "description": "Text that a line must contain; case is ignored." },
            "before": { "type": "integer", "minimum": 1, "description": "Id of a line; only older lines are returned." },
            "limit": { "type": "integer", "minimum": 1, "maximum": LogQuery::MAX_LIMIT, "default": DEFAULT_LIMIT },
        }),
        &["appId"],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let arguments: Arguments = super::parse_arguments(arguments)?;
    let right = app.app(ctx, &arguments.app_id).await?.require::<CanEdit>()?;
    let limit = arguments.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=LogQuery::MAX_LIMIT).contains(&limit) {
        return Err(Problem::invalid_field("limit", "must be from 1 to 500"));
    }
    let fits = |q: &String| (1..=100).contains(&q.chars().count()) && !q.contains('\0');
    if arguments.q.as_ref().is_some_and(|q| !fits(q)) {
        return Err(Problem::invalid_field("q", "must have 1 to 100 characters, and none may be U+0000"));
    }
    if arguments.before == Some(0) {
        return Err(Problem::invalid_field("before", "must be 1 or more"));
    }
    let query = LogQuery {
        level: arguments.level,
        source: None,
        text: arguments.q,
        run: arguments.run_id,
        before: arguments.before,
        limit,
    };
    let mut lines = app.store().log_lines(right.member().workspace(), right.app(), &query).await?;
    let has_more = lines.len() > limit as usize;
    lines.truncate(limit as usize);
    let lines: Vec<Value> = lines
        .into_iter()
        .map(|line| {
            json!({
                "id": line.id,
                "at": line.content.at,
                "runId": line.run,
                "level": line.content.level,
                "source": line.content.source,
                "message": line.content.message,
            })
        })
        .collect();
    Ok(json!({ "untrusted": UNTRUSTED_CONTENT_NOTICE, "lines": lines, "hasMore": has_more }))
}
