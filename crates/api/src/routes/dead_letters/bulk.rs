//! Settling several dead letters at once.

use application::{Problem, ProblemKind};
use axum::{Json, extract::State};
use kernel::{Caller, Context, authority::Member, id::RunId};
use runs::dead_letters::MAX_SETTLED_AT_ONCE;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    auth::{Authorized, WriteToken, console_only},
    http::{error::ApiResult, extract::Payload},
    state::Api,
};

/// Action for each dead letter.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BulkAction {
    /// Replay it with its stored input and the current version.
    Replay,
    /// Discard it.
    Discard,
}

/// The dead letters, and the action.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettleDeadLetters {
    action: BulkAction,
    #[schema(min_items = 1, max_items = 50)]
    ids: Vec<String>,
}

/// The results, in the order of the ids.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SettledDeadLetters {
    results: Vec<Settled>,
}

/// The result for a dead letter.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Settled {
    id: String,
    ok: bool,
    /// Run that was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<RunId>,
    /// Reason why the dead letter was not settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<SettleError>,
}

/// Reason why a dead letter was not settled.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SettleError {
    code: String,
    message: String,
}

/// Replay or discard up to 50 open dead letters
///
/// Each dead letter is settled on its own: an error with one does not affect the others. You need `can_edit` on the app
/// of each. A token may replay; discarding is for people in the console: 403 `console_only`.
#[utoipa::path(post, path = "/v1/workspaces/{ws}/dead-letters/bulk", tag = "runs", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace.")), request_body(content = SettleDeadLetters, example = json!({"action": "replay", "ids": ["dl_01h455vb4pex5vsknk084sn02q"]})), responses((status = 200, body = SettledDeadLetters)))]
pub(crate) async fn settle_dead_letters(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<WriteToken, Member>,
    payload: Payload,
) -> ApiResult<Json<SettledDeadLetters>> {
    let input: SettleDeadLetters = payload.json()?;
    // As the route that discards one.
    if matches!(input.action, BulkAction::Discard) && !matches!(ctx.caller, Caller::Session(_)) {
        return Err(console_only().into());
    }
    if !(1..=MAX_SETTLED_AT_ONCE).contains(&input.ids.len()) {
        let bounds = format!("must name 1 to {MAX_SETTLED_AT_ONCE} dead letters");
        return Err(Problem::invalid_field("ids", bounds).into());
    }
    let mut results = Vec::with_capacity(input.ids.len());
    for id in input.ids {
        let outcome = settle(&api, &ctx, &member, input.action, &id).await;
        results.push(match outcome {
            Ok(run_id) => Settled { id, ok: true, run_id, error: None },
            // Errors of the store are likely to concern the remaining ones too, but those already settled stay settled.
            Err(problem) if matches!(problem.kind, ProblemKind::Internal | ProblemKind::Unavailable) => {
                tracing::error!(error = &problem as &dyn std::error::Error, "could not settle a dead letter");
                let message = "The server could not settle it. Try again.".to_owned();
                let error = SettleError { code: problem.code.into_owned(), message };
                Settled { id, ok: false, run_id: None, error: Some(error) }
            }
            Err(problem) => {
                let message = problem.message.into_owned();
                let error = SettleError { code: problem.code.into_owned(), message };
                Settled { id, ok: false, run_id: None, error: Some(error) }
            }
        });
    }
    Ok(Json(SettledDeadLetters { results }))
}

async fn settle(
    api: &Api,
    ctx: &Context,
    member: &Member,
    action: BulkAction,
    id: &str,
) -> Result<Option<RunId>, Problem> {
    match action {
        BulkAction::Replay => Ok(Some(api.replay_dead_letter_of(ctx, member, id).await?.run)),
        BulkAction::Discard => {
            api.discard_dead_letter_of(ctx, member, id).await?;
            Ok(None)
        }
    }
}
