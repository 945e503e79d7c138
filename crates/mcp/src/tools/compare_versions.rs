//! `compare_versions`: says how two versions of an app differ.

use application::{Application, Problem};
use kernel::{Context, Locale, id::VersionId};
use rmcp::model::{JsonObject, Tool};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{UNTRUSTED_CONTENT_NOTICE, version_view};

pub(super) const NAME: &str = "compare_versions";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    app_id: String,
    to_version_id: VersionId,
    from_version_id: Option<VersionId>,
}

pub(super) fn definition() -> Tool {
    super::read_only_tool(
        NAME,
        "Compare versions",
        "Says what an app may do in one version and not in another, and which lines of its files differ, as unified diffs.",
        json!({
            "appId": { "type": "string", "description": "Id of the app, from list_apps." },
            "toVersionId": { "type": "string", "description": "Id of the later version, from list_versions." },
            "fromVersionId": {
                "type": "string",
                "description": "Id of the earlier version; by default the one that was current before.",
            },
        }),
        &["appId", "toVersionId"],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let arguments: Arguments = super::parse_arguments(arguments)?;
    let access = app.app(ctx, &arguments.app_id).await?;
    let compared =
        app.version_differences(&access, arguments.to_version_id, arguments.from_version_id).await?;
    let permissions: Vec<Value> = compared
        .manifest
        .iter()
        .map(|it| json!({ "sentence": it.describe(Locale::En), "widensAccess": it.widens_access }))
        .collect();
    let files: Vec<Value> = compared
        .files
        .into_iter()
        .map(|file| {
            json!({
                "path": file.path,
                "change": file.change.as_str(),
                "linesAdded": file.lines_added,
                "linesRemoved": file.lines_removed,
                "unified": file.unified,
            })
        })
        .collect();
    Ok(json!({
        "from": version_view::summary(&compared.from, compared.current),
        "to": version_view::summary(&compared.to, compared.current),
        "permissions": permissions,
        "files": files,
        "untrusted": { "files": UNTRUSTED_CONTENT_NOTICE, "summary": UNTRUSTED_CONTENT_NOTICE },
    }))
}
