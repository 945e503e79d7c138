//! The live log of an app.

use axum::{extract::State, http::HeaderMap, response::Response};
use kernel::{
    Problem,
    authority::CanEdit,
    events::Happening,
    id::{AppId, WorkspaceId},
};
use observability::{
    feed::{FeedEvent, Topic},
    logs::LinesOfEvent,
};
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use super::list::LogLineView;
use crate::{
    envelope::ApiResult,
    extract::{Ctx, Params, Path},
    feeds::{Follower, Told, What},
    routes::events::{since, sse},
    state::Api,
};

/// How many lines are told at once.
const LINES: u32 = 200;

/// From where.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct FollowLogLines {
    /// Only what came after this number; from now on when neither this nor `Last-Event-ID` is said.
    since: Option<u64>,
}

/// The lines of one app.
struct Lines(AppId);

#[async_trait::async_trait]
impl What for Lines {
    fn topic(&self) -> Topic {
        Topic::LogOf(self.0)
    }

    fn edited(&self) -> Option<AppId> {
        Some(self.0)
    }

    async fn tell(
        &self,
        api: &Api,
        workspace: WorkspaceId,
        event: &FeedEvent,
        from: u64,
        out: &mut Told<'_>,
    ) -> Result<Option<u64>, Problem> {
        let run = match event.what {
            Happening::Run { run, .. } => Some(run),
            _ => None,
        };
        let asked = LinesOfEvent { seq: event.seq, run, after: from, limit: LINES + 1 };
        let mut lines = api.store().lines_of_event(workspace, self.0, asked).await?;
        let left = lines.len() > LINES as usize;
        lines.truncate(LINES as usize);
        let more = lines.last().filter(|_| left).map(|line| line.id);
        if !lines.is_empty() {
            let lines: Vec<LogLineView> = lines.into_iter().map(LogLineView::from).collect();
            let seq = more.is_none().then_some(event.seq);
            out.say(seq, "log", &json!({ "lines": lines }));
        }
        Ok(more)
    }
}

/// Follow the log of an app
///
/// Server-Sent Events, live: `log` with lines as the log has them, oldest first, and `resync` when what the reader has
/// not seen is no longer kept. The lines of a run come when an attempt has ended.
#[utoipa::path(get, path = "/v1/apps/{id}/logs/stream", tag = "observability", params(("id" = kernel::id::AppId, Path, description = "The app."), ("Last-Event-ID" = Option<String>, Header, description = "The number of the last event that was seen; goes before `since`."), FollowLogLines), responses((status = 200, description = "A stream; it ends after 30 minutes.", content_type = "text/event-stream", body = String)))]
pub(crate) async fn follow_log_lines(
    State(api): State<Api>,
    ctx: Ctx,
    Path(id): Path<String>,
    headers: HeaderMap,
    Params(input): Params<FollowLogLines>,
) -> ApiResult<Response> {
    let right = api.app(&ctx, &id).await?.require::<CanEdit>()?;
    let since = since(&headers, input.since)?;
    let what = Lines(right.app());
    Ok(sse(Follower::begin(&api, &ctx, right.member(), what, since).await?))
}
