//! `get_change`: a change that the person of the token planned.

use application::{Application, Problem};
use kernel::Context;
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

use super::change_view;

pub(super) const NAME: &str = "get_change";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    change_id: String,
}

pub(super) fn definition() -> Tool {
    super::read_only_tool(
        NAME,
        "Read a planned change",
        "Returns a change that plan_change planned: its state (planned, live, failed or expired) and its plan. A person may \
         have approved it in the console.",
        json!({ "changeId": { "type": "string", "description": "Id of the change, from plan_change." } }),
        &["changeId"],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let arguments: Arguments = super::parse_arguments(arguments)?;
    let (id, access) = app.change(ctx, &arguments.change_id).await?;
    let member = access.member();
    let found = app.store().change(member.workspace(), member.user(), id).await?;
    let change = found.ok_or_else(|| Problem::not_found("change"))?;
    let change = app.with_remaining_steps(change).await?;
    Ok(change_view::view(&change, ctx.now))
}
