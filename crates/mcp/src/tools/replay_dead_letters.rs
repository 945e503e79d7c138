//! `replay_dead_letters`: starts new runs from several failed runs and refused webhook calls.

use application::{Application, Problem, ProblemKind};
use kernel::Context;
use rmcp::model::{JsonObject, Tool};
use runs::dead_letters::MAX_SETTLED_AT_ONCE;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) const NAME: &str = "replay_dead_letters";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    dead_letter_ids: Vec<String>,
}

pub(super) fn definition() -> Tool {
    super::action_tool(
        NAME,
        "Replay several dead letters",
        "Starts a new run from each of up to 50 failed runs and refused webhook calls, with the stored payload and the \
         current version of the app. Each is replayed on its own: an error with one does not affect the others.",
        json!({
            "deadLetterIds": {
                "type": "array",
                "items": { "type": "string" },
                "minItems": 1,
                "maxItems": MAX_SETTLED_AT_ONCE,
                "description": "Ids of dead letters, from list_dead_letters.",
            },
        }),
        &["deadLetterIds"],
    )
}

pub(super) async fn call(app: &Application, ctx: &Context, arguments: JsonObject) -> Result<Value, Problem> {
    let arguments: Arguments = super::parse_arguments(arguments)?;
    let ids = arguments.dead_letter_ids;
    if !(1..=MAX_SETTLED_AT_ONCE).contains(&ids.len()) {
        let bounds = format!("must name 1 to {MAX_SETTLED_AT_ONCE} dead letters");
        return Err(Problem::invalid_field("deadLetterIds", bounds));
    }
    let member = super::authorize_member(app, ctx).await?;
    let mut results = Vec::with_capacity(ids.len());
    for id in ids {
        results.push(match app.replay_dead_letter_of(ctx, &member, &id).await {
            Ok(replayed) => {
                json!({ "deadLetterId": id, "ok": true, "runId": replayed.run, "held": replayed.is_on_hold })
            }
            Err(problem) => {
                super::log_server_error(&problem, ctx);
                let message = match problem.kind {
                    // What the log says is not for callers.
                    ProblemKind::Internal | ProblemKind::Unavailable => {
                        "The server could not replay it. Try again.".into()
                    }
                    _ => problem.message,
                };
                json!({ "deadLetterId": id, "ok": false, "code": problem.code, "message": message })
            }
        });
    }
    Ok(json!({ "results": results }))
}
