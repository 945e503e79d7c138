//! The live stream of a workspace's events.

use application::Problem;
use axum::{extract::State, http::HeaderMap, response::Response};
use kernel::{
    authority::Member,
    caller::ViewedRole,
    events::{EventKind, RunStage},
    id::WorkspaceId,
};
use observability::feed::{FeedEvent, Topic};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::IntoParams;

use crate::{
    auth::{Authorized, Console},
    http::{
        error::ApiResult,
        event_stream::{EventSource, SseBuffer, SseSubscription},
        extract::Params,
        sse::{resume_position, sse_response},
    },
    state::Api,
};

/// Position in the stream.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FollowEvents {
    /// Only events after this number. Default: from now on, unless `Last-Event-ID` is sent.
    since: Option<u64>,
    /// Role as which you view the workspace, as in the header `Qala-View-As`.
    #[param(inline)]
    #[serde(rename = "viewAs")]
    _view_as: Option<ViewedRole>,
}

/// All events of apps that the client can view, and changes of what else it can see.
struct WorkspaceEvents;

#[async_trait::async_trait]
impl EventSource for WorkspaceEvents {
    fn topic(&self) -> Topic {
        Topic::All
    }

    async fn write_event(
        &self,
        _: &Api,
        _: WorkspaceId,
        event: &FeedEvent,
        _: u64,
        out: &mut SseBuffer<'_>,
    ) -> Result<Option<u64>, Problem> {
        let (name, mut data) = event_payload(&event.kind);
        if let Some(members) = data.as_object_mut() {
            members.insert("at".to_owned(), json!(event.at));
            members.insert("appId".to_owned(), json!(event.app));
            members.insert("appName".to_owned(), json!(event.app_name));
            if let (EventKind::Run { .. }, started) = (&event.kind, &event.run_origin) {
                let automation = started.as_ref().and_then(|started| started.automation);
                members.insert("roadId".to_owned(), json!(automation));
                members.insert("trigger".to_owned(), json!(started.as_ref().map(|it| &it.trigger)));
                let by_agent = started.as_ref().is_some_and(|started| started.by_agent);
                members.insert("askedByAgent".to_owned(), json!(by_agent));
            }
        }
        out.push(Some(event.seq), name, &data);
        Ok(None)
    }
}

/// Returns the event's name, and its data besides app and time.
fn event_payload(what: &EventKind) -> (&'static str, Value) {
    match what {
        EventKind::Run { run, stage } => {
            let mut approval_id = None;
            let (status, code) = match stage {
                RunStage::Queued => ("queued", None),
                RunStage::Running => ("running", None),
                RunStage::Retried { code } => ("queued", Some(code)),
                RunStage::AwaitingApproval { approval } => {
                    approval_id = Some(approval);
                    ("waiting_approval", None)
                }
                RunStage::Succeeded => ("succeeded", None),
                RunStage::Failed { code } => ("failed", Some(code)),
                RunStage::Blocked { code } => ("blocked", Some(code)),
            };
            ("run", json!({ "runId": run, "status": status, "code": code, "approvalId": approval_id }))
        }
        EventKind::VersionCreated { version, number } => {
            ("build", json!({ "versionId": version, "versionNumber": number }))
        }
        EventKind::RolledBack { from, version, number } => {
            let data =
                json!({ "versionId": version, "versionNumber": number, "rolledBackFromVersionId": from });
            ("build", data)
        }
        EventKind::EgressRefused { run, request: refused } => {
            let data =
                json!({ "by": "gate", "runId": run, "call": refused.request_line, "code": refused.code });
            ("refusal", data)
        }
        EventKind::WebhookCallRefused { delivery, automation, code } => {
            let data = json!({ "by": "webhook", "deliveryId": delivery, "roadId": automation, "code": code });
            ("refusal", data)
        }
        EventKind::AppFailing { run, code } => {
            ("alert", json!({ "alert": "app_failing", "runId": run, "code": code }))
        }
        EventKind::AutomationFailing { automation, run, code } => {
            let alert = "automation_failing";
            ("alert", json!({ "alert": alert, "roadId": automation, "runId": run, "code": code }))
        }
        EventKind::ConnectorDown { connection, code } => {
            ("alert", json!({ "alert": "connector_down", "connectionId": connection, "code": code }))
        }
        EventKind::LinesLogged { lines } => ("log", json!({ "lines": lines })),
        EventKind::Changed(change) => {
            let data = json!({
                "kind": change.kind.as_str(),
                "id": change.id,
                "by": change.by,
                "roadId": change.automation,
                "projectId": change.project,
                "table": change.table,
            });
            ("changed", data)
        }
    }
}

/// Follow a workspace's events
///
/// Live Server-Sent Events: `run`, `build`, `refusal`, `alert`, `log`, `changed`, and `resync` if events that you have not
/// received are no longer stored. Each event has its number as `id`. If you reconnect with that in `Last-Event-ID`, you
/// miss nothing.
#[utoipa::path(get, path = "/v1/workspaces/{ws}/events", tag = "events", params(("ws" = kernel::id::WorkspaceId, Path, description = "The workspace."), ("Last-Event-ID" = Option<String>, Header, description = "Number of the last event that the client received; takes precedence over `since`."), FollowEvents), responses((status = 200, description = "A stream; it ends after 30 minutes.", content_type = "text/event-stream", body = String)))]
pub(crate) async fn follow_events(
    State(api): State<Api>,
    Authorized(ctx, member): Authorized<Console, Member>,
    headers: HeaderMap,
    Params(input): Params<FollowEvents>,
) -> ApiResult<Response> {
    let since = resume_position(&headers, input.since)?;
    Ok(sse_response(SseSubscription::open(&api, &ctx, &member, WorkspaceEvents, since).await?))
}
