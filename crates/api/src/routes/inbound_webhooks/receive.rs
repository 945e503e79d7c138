//! Receiving a webhook call.

use axum::{
    Json,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use kernel::{
    StoreError,
    id::{DeliveryId, RunId},
};
use maud::html;
use runs::webhooks::{FormResponse, WebhookCall, WebhookRefusal, body::MAX_BODY};
use serde::Serialize;
use utoipa::ToSchema;

use super::{cors, receiver};
use crate::{
    auth::{Ctx, Public},
    http::{
        error::{ApiError, ApiResult, ErrorEnvelope},
        extract::{Path, read_body},
        pages::{Page, negotiate_locale, page, translations},
    },
    state::Api,
};

/// The call was accepted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HookAccepted {
    #[schema(example = "accepted")]
    status: &'static str,
    /// Run that this call started, or that an earlier identical call started.
    run_id: RunId,
    delivery_id: DeliveryId,
}

const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// Start an automation by a webhook call
///
/// The proof that a caller must send depends on the webhook's mode: `Service-Signature: t=…,v1=…` over `<t>.<raw body>`
/// for `signed`, `X-Hub-Signature-256: sha256=…` for `code_host`, `X-Service-Token` for `token`,
/// `X-Messenger-Bot-Secret-Token` for `messenger`. A `form` has no proof. With an `Idempotency-Key`, retries are safe:
/// they get the first response again, with the header `Idempotent-Replayed: true`.
#[utoipa::path(post, path = "/v1/hooks/{id}", tag = "webhooks",
    params(("id" = String, Path, description = "The id in the webhook's URL.")),
    request_body(description = "JSON with any JSON media type (`…+json`), or a form; up to 256 KiB, for the mode `form` 32 KiB. An empty body counts as null.", content(
        (Option<serde_json::Value> = "application/json", example = json!({"title": "An order"})),
        (Option<serde_json::Value> = "application/cloudevents+json", example = json!({"specversion": "1.0", "id": "17", "source": "/shop", "type": "order.made", "data": {"title": "An order"}})),
        (Option<Object> = "application/x-www-form-urlencoded", example = json!({"title": "An order"})),
    )),
    responses(
        (status = 202, description = "The run is durably queued. A browser that sent a public form gets a page.", content((HookAccepted = "application/json"), (String = "text/html"))),
        (status = 303, description = "Redirects a browser that sent a public form."),
        (status = 400, description = "`invalid_body`, `invalid_idempotency_key`", body = ErrorEnvelope),
        (status = 401, description = "`bad_signature`, `bad_token`, `stale_timestamp`", body = ErrorEnvelope),
        (status = 403, description = "`hook_disabled`, `bad_origin`", body = ErrorEnvelope),
        (status = 404, description = "`hook_not_found`", body = ErrorEnvelope),
        (status = 409, description = "`replayed`, `automation_paused`, `not_runnable`, `trigger_not_declared`, `quota_reached`", body = ErrorEnvelope),
        (status = 413, description = "`too_large`", body = ErrorEnvelope),
        (status = 415, description = "`unsupported_media_type`", body = ErrorEnvelope),
        (status = 503, description = "`hook_unreadable`", body = ErrorEnvelope),
    ))]
pub(crate) async fn receive_webhook(
    State(api): State<Api>,
    ctx: Ctx<Public>,
    Path(id): Path<String>,
    request: Request,
) -> ApiResult<Response> {
    // A sender that guessed too often has to wait before anything is looked up.
    api.rate_limits().check_hook_sender(ctx.client_ip).map_err(WebhookRefusal::RateLimited)?;
    let request_headers = request.headers().clone();
    let mut response = match receive(&api, &ctx, &id, request).await {
        Ok(response) => response,
        Err(refusal) => {
            if refusal.counts_against_sender() {
                api.rate_limits().count_refused_hook(ctx.client_ip);
            }
            ApiError::from(refusal).into_response()
        }
    };
    cors::add_cors_headers(&api, &id, &request_headers, &mut response).await;
    Ok(response)
}

/// Returns `true` if the client accepts an HTML response.
fn accepts_html(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted
        .flat_map(|value| value.split(','))
        .any(|range| range.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/html"))
}

/// Returns the page for the sender of a public form. It is without the name of Qala, since the form belongs to the
/// site's owner.
fn form_received_page(headers: &HeaderMap) -> Page {
    let locale = negotiate_locale(headers);
    let words = translations(locale);
    page(locale, words.form_received, html! { p { (words.form_received_text) } })
        .unbranded()
        .status(StatusCode::ACCEPTED)
}

async fn receive(
    api: &Api,
    ctx: &kernel::Context,
    id: &str,
    request: Request,
) -> Result<Response, WebhookRefusal> {
    let hook = id.parse().map_err(|_| WebhookRefusal::NotFound)?;
    let headers = request.headers().clone();
    let body = match read_body(request, MAX_BODY).await {
        Ok(body) => body,
        Err(problem) if problem.kind == application::ProblemKind::TooLarge => {
            let refusal = WebhookRefusal::TooLarge { limit_kib: MAX_BODY >> 10 };
            receiver(api).count_refusal(ctx, hook, &refusal).await?;
            return Err(refusal);
        }
        Err(_) => return Err(WebhookRefusal::InvalidBody("it ended before it was complete".to_owned())),
    };
    let call = WebhookCall { hook, headers: &headers, body: &body, is_sample: false };
    let accepted = receiver(api).receive(ctx, call).await?;
    let mut response = match accepted.form_response.filter(|_| accepts_html(&headers)) {
        Some(FormResponse::Redirect(location)) => {
            let location =
                HeaderValue::from_str(&location).map_err(|error| StoreError::Failed(error.into()))?;
            (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response()
        }
        Some(FormResponse::Page) => form_received_page(&headers).into_response(),
        None => {
            let answer =
                HookAccepted { status: "accepted", run_id: accepted.run, delivery_id: accepted.delivery };
            (StatusCode::ACCEPTED, Json(answer)).into_response()
        }
    };
    if accepted.is_duplicate {
        response.headers_mut().insert(IDEMPOTENT_REPLAYED, HeaderValue::from_static("true"));
    }
    Ok(response)
}
