//! `wait_for_events`: returns events of the workspace as soon as they happen.

use std::time::Duration;

use application::{Application, Problem};
use kernel::Context;
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

use super::UNTRUSTED_CONTENT_NOTICE;

pub(super) const NAME: &str = "wait_for_events";
const DEFAULT_WAIT_SECS: u64 = 25;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    since: Option<u64>,
    wait: Option<u64>,
}

pub(super) fn definition() -> Tool {
    super::read_only_tool(
        NAME,
        "Wait for events",
        "Returns events of apps that your person can view: runs that finished, failed or wait for a person, and alerts; \
         oldest first, at most 100. Waits while there are none. Call again with the returned cursor as since, and you \
         miss nothing; gap is true if some events are no longer kept. Without since, only new events are returned.",
        json!({
            "since": { "type": "integer", "minimum": 0, "description": "cursor of the previous call." },
            "wait": {
                "type": "integer",
                "minimum": 0,
                "maximum": 25,
                "default": DEFAULT_WAIT_SECS,
                "description": "Maximum number of seconds to wait.",
            },
        }),
        &[],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let arguments: Arguments = super::parse_arguments(arguments)?;
    let member = super::authorize_member(app, ctx).await?;
    let wait = arguments.wait.unwrap_or(DEFAULT_WAIT_SECS);
    if wait > 25 {
        return Err(Problem::invalid_field("wait", "must be from 0 to 25"));
    }
    let feed = app.agent_events(ctx, member, arguments.since, Duration::from_secs(wait)).await?;
    let mut found = serde_json::to_value(feed).map_err(Problem::internal)?;
    found["untrusted"] = json!({ "appName": UNTRUSTED_CONTENT_NOTICE });
    Ok(found)
}
