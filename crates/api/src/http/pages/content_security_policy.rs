//! The content security policy of pages.

use axum::http::HeaderValue;

/// Returns the policy of a page. Its forms may redirect to `form_action` too; with the console, scripts at these
/// addresses may run and call the API, under Trusted Types. Other scripts of the origin may be those of apps.
pub(super) fn content_security_policy(
    form_action: Option<&str>,
    console_scripts: Option<&str>,
) -> HeaderValue {
    let (images, scripts) = match console_scripts {
        Some(addresses) => (
            "img-src 'self' data:; font-src 'self'",
            format!(
                "script-src {addresses}; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'; "
            ),
        ),
        None => ("img-src 'self'", String::new()),
    };
    let policy = |form_action: &str| {
        format!(
            "default-src 'none'; {scripts}style-src 'self'; {images}; form-action 'self'{form_action}; base-uri 'none'; \
             frame-ancestors 'none'"
        )
    };
    let allowed = form_action.map(|source| format!(" {source}")).unwrap_or_default();
    HeaderValue::from_str(&policy(&allowed)).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}
