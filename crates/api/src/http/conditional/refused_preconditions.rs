//! Preconditions that an operation cannot check. It refuses them: a client that sends one relies on it.

use std::{collections::HashMap, sync::OnceLock};

use application::Problem;
use axum::{
    extract::MatchedPath,
    http::{HeaderName, Method, header, request::Parts},
};
use utoipa::openapi::{
    OpenApi, RefOr,
    path::{Operation, ParameterIn},
};

use super::IF_MATCH;

/// Operations that ignore preconditions, each with the reason.
const IGNORING: [(&str, &str); 3] = [
    ("forward_oidc_response", "a browser sends it for an issuer, and it writes nothing"),
    ("start_device_authorization", "its errors are OAuth's (RFC 8628), and each request is a new one"),
    ("receive_webhook", "the sender is another system, and the call is new whatever it says about states"),
];

/// The preconditions that operations which write refuse, by path and method. Looked up only for requests with a precondition, so that no other
/// request pays for it. Every router of the process has the same operations.
static REFUSED: OnceLock<HashMap<(String, Method), RefusedPreconditions>> = OnceLock::new();

/// Takes over what the operations of a description refuse.
pub(crate) fn set_refused_preconditions(description: &OpenApi) {
    REFUSED.get_or_init(|| {
        let mut refused = HashMap::new();
        for (path, item) in &description.paths.paths {
            let writes = [
                (Method::PUT, &item.put),
                (Method::POST, &item.post),
                (Method::PATCH, &item.patch),
                (Method::DELETE, &item.delete),
            ];
            for (method, operation) in writes {
                if let Some(found) = operation.as_ref().and_then(RefusedPreconditions::of) {
                    refused.insert((path.clone(), method), found);
                }
            }
        }
        refused
    });
}

/// Preconditions that an operation which writes cannot check.
#[derive(Debug, Clone, Copy)]
struct RefusedPreconditions {
    takes_if_match: bool,
}

impl RefusedPreconditions {
    /// Returns what an operation refuses that is not a read; `None` if it ignores preconditions.
    fn of(operation: &Operation) -> Option<Self> {
        let id = operation.operation_id.as_deref().unwrap_or_default();
        let takes_if_match = operation.parameters.iter().flatten().any(|parameter| match parameter {
            RefOr::T(parameter) => {
                parameter.parameter_in == ParameterIn::Header && parameter.name == IF_MATCH
            }
            RefOr::Ref(_) => false,
        });
        let is_ignoring = IGNORING.iter().any(|(ignoring, _)| *ignoring == id);
        (!is_ignoring).then_some(Self { takes_if_match })
    }

    fn names(self) -> impl Iterator<Item = HeaderName> {
        let if_match = (!self.takes_if_match).then_some(header::IF_MATCH);
        if_match.into_iter().chain([header::IF_NONE_MATCH])
    }
}

/// Refuses a request with a precondition that its operation cannot check. Call it when the caller's right is proven
/// (RFC 9110, section 13.2.1).
///
/// `If-Unmodified-Since` is ignored, as it must be where objects have no date of modification (section 13.1.4).
///
/// # Errors
/// 400 `invalid_request`; 500 `internal` before [`set_refused_preconditions`].
pub(crate) fn refuse_preconditions(request: &Parts) -> Result<(), Problem> {
    if ![header::IF_MATCH, header::IF_NONE_MATCH].iter().any(|name| request.headers.contains_key(name)) {
        return Ok(());
    }
    // Without a route there is nothing that it could hold for.
    let Some(path) = request.extensions.get::<MatchedPath>() else { return Ok(()) };
    let all = REFUSED.get().ok_or_else(|| Problem::internal("the operations are not known"))?;
    let Some(refused) = all.get(&(path.as_str().to_owned(), request.method.clone())) else { return Ok(()) };
    match refused.names().find(|name| request.headers.contains_key(name)) {
        None => Ok(()),
        Some(name) => {
            let shown = if name == header::IF_MATCH { IF_MATCH } else { "If-None-Match" };
            Err(Problem::invalid_field(shown, "is a precondition that this operation cannot check")
                .hint("Nothing was written. Send the request without the header."))
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::{Router, body::Body, extract::Request, response::IntoResponse as _, routing};
    use tower::ServiceExt as _;

    use super::*;

    /// Returns true if a request with this header is refused.
    async fn is_refused(method: Method, path: &str, header: HeaderName) -> bool {
        set_refused_preconditions(&crate::document());
        let check = async |request: Request| {
            let (parts, _) = request.into_parts();
            match refuse_preconditions(&parts) {
                Ok(()) => 200_u16,
                Err(problem) => {
                    assert_eq!(problem.code, "invalid_request");
                    400
                }
            }
            .to_string()
            .into_response()
        };
        let router = Router::new()
            .route("/v1/apps/{id}", routing::any(check))
            .route("/v1/workspaces/{ws}/apps", routing::any(check))
            .route("/v1/hooks/{id}", routing::any(check));
        let request = Request::builder().method(method).uri(path).header(header, "*");
        let response = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let body = axum::body::to_bytes(response.into_body(), 16).await.unwrap();
        body == "400"
    }

    #[tokio::test]
    async fn a_precondition_that_is_not_checked_is_refused() {
        for (method, path, if_match, if_none_match) in [
            (Method::PATCH, "/v1/apps/app_1", false, true),
            (Method::POST, "/v1/workspaces/ws_1/apps", true, true),
            (Method::GET, "/v1/apps/app_1", false, false),
            (Method::POST, "/v1/hooks/hook_1", false, false),
        ] {
            assert_eq!(is_refused(method.clone(), path, header::IF_MATCH).await, if_match, "{method} {path}");
            assert_eq!(
                is_refused(method.clone(), path, header::IF_NONE_MATCH).await,
                if_none_match,
                "{path}"
            );
            assert!(!is_refused(method, path, header::IF_UNMODIFIED_SINCE).await);
        }
    }

    #[test]
    fn every_operation_that_ignores_preconditions_exists() {
        let document = serde_json::to_value(crate::document()).unwrap().to_string();
        for (id, _) in IGNORING {
            assert!(document.contains(&format!("\"operationId\":\"{id}\"")), "{id}");
        }
    }
}
