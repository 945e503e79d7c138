//! Starting a device login in the format of RFC 8628, for standard clients.

use axum::{
    Json,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use identity::device::{LIFETIME, POLL_INTERVAL, Purpose, StartDeviceLogin};
use kernel::caller::Scopes;
use secrecy::ExposeSecret as _;
use serde::Serialize;
use utoipa::ToSchema;

use super::start;
use crate::{
    auth::{Ctx, Public},
    http::{
        error::{ApiError, ApiResult},
        extract::read_body,
    },
    state::Api,
};
use application::{Problem, ProblemKind, rate_limits::network_prefix};

const MAX_FORM_BYTES: usize = 16 << 10;

/// Device authorization response (RFC 8628, section 3.2).
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeviceAuthorization {
    device_code: String,
    user_code: String,
    verification_uri: String,
    verification_uri_complete: String,
    expires_in: i64,
    interval: i64,
}

/// Error response (RFC 6749, section 5.2).
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeviceAuthorizationError {
    error: &'static str,
    error_description: String,
}

/// Start a device login in the format of RFC 8628
///
/// Send a form with `client_id` and, to request less than all access, `scope`. Otherwise the same as
/// `POST /v1/cli/device`.
#[utoipa::path(post, path = "/oauth/device_authorization", tag = "device-login",
    request_body(content((Object = "application/x-www-form-urlencoded", example = json!({"client_id": "qala-cli", "scope": "read"})))),
    responses((status = 200, body = DeviceAuthorization), (status = 400, description = "`invalid_request`, `invalid_scope`", body = DeviceAuthorizationError)))]
pub(crate) async fn start_device_authorization(
    State(api): State<Api>,
    ctx: Ctx<Public>,
    request: Request,
) -> ApiResult<Response> {
    let form = match parse_form(request).await {
        Ok(form) => form,
        Err(problem) => return error_response("invalid_request", problem),
    };
    let scopes: Scopes = match form.scope.as_deref().unwrap_or("read write").parse() {
        Ok(scopes) => scopes,
        Err(error) => return error_response("invalid_scope", error.into()),
    };
    let input = StartDeviceLogin {
        client: form.client_id,
        purpose: Purpose::Login,
        name: None,
        scopes,
        expires_in_days: 90,
        host: None,
        network: ctx.client_ip.map(network_prefix),
    };
    let started = match start::start(&api, &ctx, input).await {
        Ok(started) => started,
        Err(ApiError(problem)) => {
            let error =
                if problem.message.contains("`scopes`") { "invalid_scope" } else { "invalid_request" };
            return error_response(error, problem);
        }
    };
    let (verification_uri, verification_uri_complete) = start::verification_uris(&api, &started);
    Ok(Json(DeviceAuthorization {
        device_code: started.device_code.expose_secret().to_owned(),
        user_code: started.user_code.to_string(),
        verification_uri,
        verification_uri_complete,
        expires_in: LIFETIME.num_seconds(),
        interval: POLL_INTERVAL.num_seconds(),
    })
    .into_response())
}

/// Returns errors of the request in the format of RFC 6749, all others in the format of the API.
fn error_response(error: &'static str, problem: Problem) -> ApiResult<Response> {
    if !matches!(problem.kind, ProblemKind::Invalid | ProblemKind::Unsupported) {
        return Err(problem.into());
    }
    let body = DeviceAuthorizationError { error, error_description: problem.message.into_owned() };
    Ok((StatusCode::BAD_REQUEST, Json(body)).into_response())
}

struct DeviceAuthorizationForm {
    client_id: String,
    scope: Option<String>,
}

async fn parse_form(request: Request) -> Result<DeviceAuthorizationForm, Problem> {
    let content_type = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        return Err(Problem::invalid("The body must be a form (application/x-www-form-urlencoded)."));
    }
    let body = read_body(request, MAX_FORM_BYTES).await?;
    let (mut client_id, mut scope) = (None, None);
    for (name, value) in url::form_urlencoded::parse(&body) {
        let slot = match &*name {
            "client_id" => &mut client_id,
            "scope" => &mut scope,
            _ => continue,
        };
        if slot.replace(value.into_owned()).is_some() {
            return Err(Problem::invalid(format!("{name} is given twice")));
        }
    }
    let present = |value: Option<String>| value.filter(|value| !value.is_empty());
    let client_id = present(client_id).ok_or_else(|| Problem::invalid("client_id is missing"))?;
    Ok(DeviceAuthorizationForm { client_id, scope: present(scope) })
}
