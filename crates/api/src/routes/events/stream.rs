//! The live stream of a workspace.

use axum::{extract::State, http::HeaderMap, response::Response};
use kernel::{
    Problem,
    events::{Happening, RunStage},
    id::WorkspaceId,
};
use observability::feed::{FeedEvent, Topic};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use super::{since, sse};
use crate::{
    envelope::ApiResult,
    extract::{Ctx, Params, Path},
    feeds::{Follower, Told, What},
    state::Api,
};

/// From where.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FollowEvents {
    /// Only what came after this number; from now on when neither this nor `Last-Event-ID` is said.
    since: Option<u64>,
}

/// Everything that happens about apps the reader can view.
struct Events;

#[async_trait::async_trait]
impl What for Events {
    fn topic(&self) -> Topic {
        Topic::All
    }

    async fn tell(
        &self,
        _: &Api,
        _: WorkspaceId,
        event: &FeedEvent,
        _: u64,
        out: &mut Told<'_>,
    ) -> Result<Option<u64>, Problem> {
        let (name, mut data) = view(&event.what);
        if let Some(members) = data.as_object_mut() {
            members.insert("at".to_owned(), json!(event.at));
            members.insert("appId".to_owned(), json!(event.app));
            members.insert("appName".to_owned(), json!(event.app_name));
            if let (Happening::Run { .. }, started) = (&event.what, &event.started) {
                let automation = started.as_ref().and_then(|started| started.automation);
                members.insert("roadId".to_owned(), json!(automation));
                members.insert("trigger".to_owned(), json!(started.as_ref().map(|it| &it.trigger)));
                let by_agent = started.as_ref().is_some_and(|started| started.by_agent);
                members.insert("askedByAgent".to_owned(), json!(by_agent));
            }
        }
        out.say(Some(event.seq), name, &data);
        Ok(None)
    }
}

/// The event's name, and what is told of it beside its app and time.
fn view(what: &Happening) -> (&'static str, Value) {
    match what {
        Happening::Run { run, stage } => {
            let mut approval_id = None;
            let (status, code) = match stage {
                RunStage::Queued => ("queued", None),
                RunStage::Running => ("running", None),
                RunStage::Retried { code } => ("queued", Some(code)),
                RunStage::Waiting { approval } => {
                    approval_id = Some(approval);
                    ("waiting_approval", None)
                }
                RunStage::Succeeded => ("succeeded", None),
                RunStage::Failed { code } => ("failed", Some(code)),
                RunStage::Blocked { code } => ("blocked", Some(code)),
            };
            ("run", json!({ "runId": run, "status": status, "code": code, "approvalId": approval_id }))
        }
        Happening::Build { version, number } => {
            ("build", json!({ "versionId": version, "versionNumber": number }))
        }
        Happening::GateRefusal { run, refused } => {
            let data = json!({ "by": "gate", "runId": run, "call": refused.call, "code": refused.code });
            ("refusal", data)
        }
        Happening::CallRefusal { delivery, automation, code } => {
            let data = json!({ "by": "webhook", "deliveryId": delivery, "roadId": automation, "code": code });
            ("refusal", data)
        }
        Happening::AppFailing { run, code } => {
            ("alert", json!({ "alert": "app_failing", "runId": run, "code": code }))
        }
        Happening::AutomationFailing { automation, run, code } => {
            let alert = "automation_failing";
            ("alert", json!({ "alert": alert, "roadId": automation, "runId": run, "code": code }))
        }
        Happening::Log { lines } => ("log", json!({ "lines": lines })),
    }
}

/// Follow a workspace
///
/// Server-Sent Events, live: `run`, `build`, `refusal`, `alert`, `log`, and `resync` when what the reader has not seen is no
/// longer kept. Each has its number as `id`; a reader that comes back with it in `Last-Event-ID` misses nothing.
#[utoipa::path(get, path = "/v1/workspaces/{ws}/events", tag = "events", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ("Last-Event-ID" = Option<String>, Header, description = "The number of the last event that was seen; goes before `since`."), FollowEvents), responses((status = 200, description = "A stream; it ends after 30 minutes.", content_type = "text/event-stream", body = String)))]
pub(crate) async fn follow_events(
    State(api): State<Api>,
    ctx: Ctx,
    Path(ws): Path<String>,
    headers: HeaderMap,
    Params(input): Params<FollowEvents>,
) -> ApiResult<Response> {
    let member = api.member(&ctx, &ws).await?;
    let since = since(&headers, input.since)?;
    Ok(sse(Follower::begin(&api, &ctx, &member, Events, since).await?))
}
