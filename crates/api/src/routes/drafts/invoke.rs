//! Trying a draft.

use std::collections::BTreeMap;

use application::Problem;
use axum::{
    Json,
    extract::State,
    http::{HeaderName, HeaderValue, Method},
};
use kernel::{
    Context,
    authority::{AppRight, CanEdit},
};
use runs::{
    InvalidInput, TriggerKind,
    automations::MAX_INPUT,
    engine::{HandlerCall, HttpRequest, ScheduledEvent},
};
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::outcome::DraftRun;
use crate::{
    auth::{Authorized, WriteToken},
    http::{error::ApiResult, extract::Payload, schemas},
    routes::app_proxy,
    state::Api,
};

/// Most characters of a path with its query.
const MAX_PATH: usize = 2_000;
/// Most headers of a request.
const MAX_HEADERS: usize = 50;

/// A call of a draft: one handler, and its argument.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DraftInvocation {
    handler: DraftHandler,
    /// Argument of `scheduled`.
    #[serde(default)]
    event: Option<DraftEvent>,
    /// Argument of `fetch`.
    #[serde(default)]
    request: Option<DraftRequest>,
}

/// A handler that a draft exports.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DraftHandler {
    Fetch,
    Scheduled,
}

/// The event that starts `scheduled`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DraftEvent {
    /// Trigger that the code is told. Default: `manual`.
    #[serde(default)]
    #[schema(value_type = Option<schemas::runs::TriggerKind>)]
    trigger: Option<TriggerKind>,
    /// Any JSON up to 256 KiB. Default: null.
    #[serde(default)]
    #[schema(value_type = serde_json::Value)]
    data: Option<Box<RawValue>>,
}

/// The request that `fetch` responds to.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DraftRequest {
    /// Method. Default: `GET`.
    #[serde(default)]
    #[schema(max_length = 16, example = "POST")]
    method: Option<String>,
    /// Path and query, below the address of the app. Default: `/`.
    #[serde(default)]
    #[schema(max_length = 2000, example = "/orders?dry=1")]
    path: Option<String>,
    /// Values of headers by name; at most 50.
    #[serde(default)]
    headers: BTreeMap<String, String>,
    /// Text of the body.
    #[serde(default)]
    body: Option<String>,
}

/// Try your draft of an app
///
/// Runs one handler of your draft with the permissions, secrets, gates and limits of the app's current version, and waits for
/// its end. It counts as a run of the month. What it writes to tables and sends to other hosts is real. It opens no gate: what
/// the manifest or a gate does not allow is refused, and `missing` says what a planned change would have to ask for.
#[utoipa::path(
    post, path = "/v1/apps/{id}/draft/invoke", tag = "apps",
    params(("id" = kernel::id::AppId, Path, description = "The app.")),
    request_body(
        content = DraftInvocation,
        examples(
            ("event" = (summary = "An event", value = json!({"handler": "scheduled", "event": {"data": {"order": 7}}}))),
            ("request" = (
                summary = "A request",
                value = json!({"handler": "fetch", "request": {"method": "POST", "path": "/orders?dry=1", "headers": {"content-type": "application/json"}, "body": "{}"}})
            ))
        )
    ),
    responses((status = 200, body = DraftRun))
)]
pub(crate) async fn invoke_draft(
    State(api): State<Api>,
    Authorized(ctx, right): Authorized<WriteToken, AppRight<CanEdit>>,
    payload: Payload,
) -> ApiResult<Json<DraftRun>> {
    let DraftInvocation { handler, event, request } = payload.json()?;
    let handler = match handler {
        DraftHandler::Scheduled if request.is_some() => {
            return Err(Problem::invalid_field("request", "is the argument of `fetch`; give `event`").into());
        }
        DraftHandler::Fetch if event.is_some() => {
            return Err(
                Problem::invalid_field("event", "is the argument of `scheduled`; give `request`").into()
            );
        }
        DraftHandler::Scheduled => scheduled(&ctx, event)?,
        DraftHandler::Fetch => fetch(&api, &right, request.unwrap_or_default()).await?,
    };
    Ok(Json(DraftRun::of(api.invoke_draft(&ctx, &right, handler).await?)))
}

fn scheduled(ctx: &Context, event: Option<DraftEvent>) -> Result<HandlerCall, Problem> {
    let DraftEvent { trigger, data } = event.unwrap_or(DraftEvent { trigger: None, data: None });
    let data = data.unwrap_or_else(|| RawValue::NULL.to_owned());
    if data.get().len() > MAX_INPUT {
        return Err(InvalidInput::RunInput.into());
    }
    Ok(HandlerCall::Scheduled(ScheduledEvent {
        trigger: trigger.unwrap_or(TriggerKind::Manual).as_str().to_owned(),
        data,
        scheduled_time: ctx.now,
        cron: None,
        run_id: ctx.new_id(),
        attempt: 1,
    }))
}

async fn fetch(api: &Api, right: &AppRight<CanEdit>, request: DraftRequest) -> Result<HandlerCall, Problem> {
    let method = request.method.as_deref().unwrap_or("GET");
    let is_method = method.len() <= 16 && method.bytes().all(|byte| byte.is_ascii_uppercase());
    if !is_method || method.parse::<Method>().is_err() {
        return Err(Problem::invalid_field(
            "request.method",
            "must be a method in capital letters, such as `GET`",
        ));
    }
    let path = request.path.as_deref().unwrap_or("/");
    let is_plain = path.bytes().all(|byte| byte.is_ascii_graphic() && !b"\\#\"<>".contains(&byte));
    if !path.starts_with('/') || path.len() > MAX_PATH || !is_plain {
        return Err(Problem::invalid_field(
            "request.path",
            "must begin with / and have at most 2000 characters of a URL's path and query",
        ));
    }
    if request.headers.len() > MAX_HEADERS {
        return Err(Problem::invalid_field("request.headers", "must have at most 50 members"));
    }
    let mut headers = Vec::with_capacity(request.headers.len());
    for (name, value) in request.headers {
        let parsed = name.parse::<HeaderName>().ok().zip(HeaderValue::from_str(&value).ok());
        let (name, _) = parsed.ok_or_else(|| {
            Problem::invalid_field("request.headers", "has a name or a value that no header may have")
        })?;
        headers.push((name.as_str().to_owned(), value));
    }
    let app = api.store().app(right.member().workspace(), right.app()).await?;
    let slug = app.ok_or_else(|| Problem::not_found("app"))?.slug;
    Ok(HandlerCall::Fetch(HttpRequest {
        method: method.to_owned(),
        url: format!("{}{path}", app_proxy::origin(api, &slug)),
        headers,
        body: request.body.unwrap_or_default().into(),
    }))
}
