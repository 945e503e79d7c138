//! `rollback_version`: makes an earlier version of an app current.

use application::{Application, Problem};
use kernel::{Context, Locale, authority::CanEdit, id::VersionId};
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const NAME: &str = "rollback_version";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    app_id: String,
    version_id: VersionId,
    expect_current_version_id: VersionId,
}

pub(super) fn definition() -> Tool {
    super::action_tool(
        NAME,
        "Roll back an app",
        "Makes an earlier version of an app current; nothing is built, and runs that have started keep their version. A \
         version with a connection that the current one does not have needs an admin in the console.",
        json!({
            "appId": { "type": "string", "description": "Id of the app, from list_apps." },
            "versionId": { "type": "string", "description": "Id of the version to go back to, from list_versions." },
            "expectCurrentVersionId": {
                "type": "string",
                "description": "Id of the version that is current now; if another one is, nothing changes.",
            },
        }),
        &["appId", "versionId", "expectCurrentVersionId"],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let arguments: Arguments = super::parse_arguments(arguments)?;
    let right = app.app(ctx, &arguments.app_id).await?.require::<CanEdit>()?;
    let expected = arguments.expect_current_version_id;
    let moved = app.roll_back_version(ctx, &right, arguments.version_id, expected).await?;
    let permissions: Vec<String> = moved.manifest.iter().map(|it| it.describe(Locale::En)).collect();
    let automations: Vec<Value> = moved
        .consequences
        .automations
        .iter()
        .map(|it| json!({ "id": it.id, "change": it.change.as_str(), "sentence": it.describe(Locale::En) }))
        .collect();
    let remains: Vec<String> = moved.consequences.remains.iter().map(|it| it.describe(Locale::En)).collect();
    Ok(json!({
        "appId": moved.rollback.app,
        "fromVersionId": moved.rollback.from,
        "toVersionId": moved.rollback.to,
        "trustScore": moved.to.trust_score,
        "permissions": permissions,
        "needsConsole": moved.needs_console,
        "automations": automations,
        "remains": remains,
    }))
}
