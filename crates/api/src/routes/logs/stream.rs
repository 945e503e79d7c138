//! The live log of an app.

use application::Problem;
use axum::{extract::State, http::HeaderMap, response::Response};
use kernel::{
    authority::{AppRight, CanEdit},
    caller::ViewedRole,
    events::EventKind,
    id::{AppId, WorkspaceId},
};
use observability::{
    feed::{FeedEvent, Topic},
    logs::EventLinesQuery,
};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::list::LogLineView;
use crate::{
    auth::{Authorized, ReadToken},
    http::{
        error::ApiResult,
        event_stream::{EventSource, SseBuffer, SseSubscription},
        extract::Params,
        sse::{resume_position, sse_response},
    },
    state::Api,
};

/// Maximum number of lines of an event.
const MAX_LINES_PER_EVENT: u32 = 200;

/// Position in the stream.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FollowLogLines {
    /// Only lines after this number. Default: from now on, unless `Last-Event-ID` is sent.
    since: Option<u64>,
    /// Role as which you view the workspace, as in the header `Qala-View-As`.
    #[param(inline)]
    #[serde(rename = "viewAs")]
    _view_as: Option<ViewedRole>,
}

/// Log lines of one app.
struct AppLogLines(AppId);

#[async_trait::async_trait]
impl EventSource for AppLogLines {
    fn topic(&self) -> Topic {
        Topic::AppLog(self.0)
    }

    fn required_editable_app(&self) -> Option<AppId> {
        Some(self.0)
    }

    async fn write_event(
        &self,
        api: &Api,
        workspace: WorkspaceId,
        event: &FeedEvent,
        from: u64,
        out: &mut SseBuffer<'_>,
    ) -> Result<Option<u64>, Problem> {
        let run = match event.kind {
            EventKind::Run { run, .. } => Some(run),
            _ => None,
        };
        let line_query = EventLinesQuery { seq: event.seq, run, after: from, limit: MAX_LINES_PER_EVENT + 1 };
        let mut lines = api.store().event_log_lines(workspace, self.0, line_query).await?;
        let has_more = lines.len() > MAX_LINES_PER_EVENT as usize;
        lines.truncate(MAX_LINES_PER_EVENT as usize);
        let more = lines.last().filter(|_| has_more).map(|line| line.id);
        if !lines.is_empty() {
            let lines: Vec<LogLineView> = lines.into_iter().map(LogLineView::from).collect();
            let seq = more.is_none().then_some(event.seq);
            out.push(seq, "log", &json!({ "lines": lines }));
        }
        Ok(more)
    }
}

/// Follow the log of an app
///
/// Live Server-Sent Events: `log` with lines as in the log, oldest first, and `resync` if lines that you have not
/// received are no longer stored. The lines of a run are sent when an attempt has ended.
#[utoipa::path(get, path = "/v1/apps/{id}/logs/stream", tag = "observability", params(("id" = kernel::id::AppId, Path, description = "The app."), ("Last-Event-ID" = Option<String>, Header, description = "Number of the last event that the client received; takes precedence over `since`."), FollowLogLines), responses((status = 200, description = "A stream; it ends after 30 minutes.", content_type = "text/event-stream", body = String)))]
pub(crate) async fn follow_log_lines(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<ReadToken, AppRight<CanEdit>>,
    headers: HeaderMap,
    Params(input): Params<FollowLogLines>,
) -> ApiResult<Response> {
    let since = resume_position(&headers, input.since)?;
    let what = AppLogLines(right.app());
    Ok(sse_response(SseSubscription::open(&api, &ctx, right.member(), what, since).await?))
}
