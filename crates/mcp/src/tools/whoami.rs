//! `whoami`: returns the person for whom the agent acts, and the workspace.

use application::{Application, Problem};
use kernel::{Caller, Context};
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const NAME: &str = "whoami";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {}

pub(super) fn definition() -> Tool {
    super::read_only_tool(
        NAME,
        "Who am I",
        "Returns the person for whom you act, the workspace, the person's role there and your scopes.",
        json!({}),
        &[],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let Arguments {} = super::parse_arguments(arguments)?;
    let Caller::Token(token) = &ctx.caller else { return Err(Problem::unauthorized()) };
    let member = super::authorize_member(app, ctx).await?;
    let user = app.store().user(member.user()).await?.ok_or_else(Problem::unauthorized)?;
    let workspace = app.store().workspace(member.workspace()).await?.ok_or_else(Problem::unauthorized)?;
    Ok(json!({
        "user": { "id": user.id, "name": user.name, "email": user.email.as_str() },
        "workspace": { "id": workspace.id, "name": workspace.name, "slug": workspace.slug },
        "role": member.role(),
        "scopes": token.scopes.to_vec(),
        "grantId": token.grant,
    }))
}
