//! `get_dead_letter`: returns one dead letter with its payload.

use application::{Application, Problem};
use kernel::Context;
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{UNTRUSTED_CONTENT_NOTICE, dead_letter_view};

pub(super) const NAME: &str = "get_dead_letter";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    dead_letter_id: String,
}

pub(super) fn definition() -> Tool {
    super::read_only_tool(
        NAME,
        "Get a dead letter",
        "Returns one failed run or refused webhook call, with the payload for the app.",
        json!({ "deadLetterId": { "type": "string", "description": "Id of the dead letter, from list_dead_letters." } }),
        &["deadLetterId"],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let arguments: Arguments = super::parse_arguments(arguments)?;
    let (id, access) = app.dead_letter(ctx, &arguments.dead_letter_id).await?;
    let found = app.store().dead_letter(access.member().workspace(), id).await?;
    let (dead_letter, payload) = found.ok_or_else(|| Problem::not_found("dead letter"))?;
    let mut view = dead_letter_view::summary(&dead_letter);
    view["payload"] = json!(payload);
    view["untrusted"] = json!({ "message": UNTRUSTED_CONTENT_NOTICE, "preview": UNTRUSTED_CONTENT_NOTICE, "payload": UNTRUSTED_CONTENT_NOTICE });
    Ok(view)
}
