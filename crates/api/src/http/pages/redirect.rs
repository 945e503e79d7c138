//! Redirects between pages.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};

/// Redirects the browser to a path, which it loads with GET.
pub(crate) fn see_other(to: &str) -> Response {
    let to = HeaderValue::from_str(to).unwrap_or(HeaderValue::from_static("/sign-in"));
    (StatusCode::SEE_OTHER, [(header::LOCATION, to)]).into_response()
}

/// Returns the path of the sign-in page, which continues to `next`.
pub(crate) fn sign_in_path(next: &str) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("next", next).finish();
    format!("/sign-in?{query}")
}

/// Redirects to the sign-in page, which continues to `next`.
pub(crate) fn redirect_to_sign_in(next: &str) -> Response {
    see_other(&sign_in_path(next))
}
