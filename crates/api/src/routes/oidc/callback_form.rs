//! Returning from an issuer that responds by a form.

use axum::{extract::State, response::Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    http::{
        error::{ApiError, ApiResult, ErrorEnvelope},
        extract::{AnonymousForm, Path},
        pages::redirect::see_other,
    },
    state::Api,
};
use application::Problem;

/// An issuer's response (OAuth 2.0 Form Post Response Mode). Issuers may add other members, which are left out.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
pub(crate) struct IssuerResponseForm {
    /// The `state` of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    /// Authorization code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// Identifier of the issuer, if it sends one (RFC 9207).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    iss: Option<String>,
    /// Error code, if the sign-in failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Receive an issuer's response as a form
///
/// For browsers, and for issuers that respond by `form_post` only. The response is a redirect to the `GET` of the same address with the same
/// members: a form that another site posts comes without cookies, and a redirect with them.
#[utoipa::path(post, path = "/v1/auth/oidc/{provider}/callback", tag = "session", params(("provider" = String, Path, description = "The issuer's name in the operator's configuration.")),
    request_body(content((IssuerResponseForm = "application/x-www-form-urlencoded", example = json!({"state": "af0ifjsldkj", "code": "SplxlOBeZQQYbYS6WxSbIA"})))),
    responses(
        (status = 303, description = "Redirects to the same address."),
        (status = 400, description = "The body is no such form. Browsers get a page.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 404, description = "There is no such issuer. Browsers get a page.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
        (status = 413, description = "The form is too large. Browsers get a page.", content((String = "text/html"), (ErrorEnvelope = "application/json"))),
    ))]
pub(crate) async fn forward_oidc_response(
    State(api): State<Api>,
    Path(provider): Path<String>,
    AnonymousForm(form): AnonymousForm<IssuerResponseForm>,
) -> ApiResult<Response> {
    if !api.oidc_providers().providers().iter().any(|known| known.name == provider) {
        return Err(ApiError::from(Problem::not_found("provider")));
    }
    let query = serde_urlencoded::to_string(&form).map_err(Problem::internal)?;
    Ok(see_other(&format!("/v1/auth/oidc/{provider}/callback?{query}")))
}
