//! `replay_dead_letter`: starts a new run from a failed run or a refused webhook call.

use application::{Application, Problem};
use kernel::{Context, authority::CanEdit};
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
        "Starts a new run from a failed run or a refused webhook call, and marks the dead letter as replayed. The run may \
         reach other hosts, as its app may. Returns the id of the new run at once; get_run returns its progress. If `held` is \
         true, the runs of the month are used up, and it waits for the next month or a larger plan.",
        json!({
            "deadLetterId": { "type": "string", "description": "Id of the dead letter, from list_dead_letters." },
            // A single type, because several clients refuse a property without one; any JSON is accepted.
            "payload": { "type": "object", "description": "Payload for the app, instead of the stored one." },
            "version": {
                "type": "string",
                "enum": ["current", "original"],
                "default": "current",
                "description": "Version to run: the app's current one, or the one that failed, unless that \
                                may do what the current one may not.",
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
        "held": replayed.is_on_hold,
    }))
}
