//! Running a failed run or refused call again.

use application::Application;
use kernel::{Context, Problem, authority::CanEdit};
use rmcp::model::{JsonObject, Tool};
use runs::dead_letters::WhichVersion;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

pub(super) const NAME: &str = "replay_dead_letter";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    dead_letter_id: String,
    payload: Option<Value>,
    #[serde(default)]
    version: WhichVersion,
}

pub(super) fn definition() -> Tool {
    super::action_tool(
        NAME,
        "Replay a dead letter",
        "Runs a failed run or refused call again as a new run, and settles the letter. The run may reach outside as \
         its app may. Gives the new run's id at once; get_run tells how it goes.",
        json!({
            "deadLetterId": { "type": "string", "description": "As list_dead_letters gives it." },
            // One type, since several clients refuse a property without one; any JSON is taken all the same.
            "payload": { "type": "object", "description": "What the app is given instead of what was kept." },
            "version": {
                "type": "string",
                "enum": ["current", "original"],
                "default": "current",
                "description": "The app's current version, or the one that failed.",
            },
        }),
        &["deadLetterId"],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let arguments: Arguments = super::parse_arguments(arguments)?;
    let (id, access) = app.dead_letter(ctx, &arguments.dead_letter_id).await?;
    let right = access.require::<CanEdit>()?;
    let payload = arguments.payload.map(|payload| RawValue::from_string(payload.to_string()));
    let payload = payload.transpose().map_err(Problem::internal)?;
    let replayed = app.replay_dead_letter(ctx, &right, id, payload, arguments.version).await?;
    Ok(json!({
        "runId": replayed.run,
        "deadLetterId": replayed.dead_letter,
        "versionId": replayed.version.id,
        "versionNumber": replayed.version.number,
        "edited": replayed.is_edited,
    }))
}
