//! Preconditions that an operation cannot check. It refuses them: a client that sends one relies on it.

use application::Problem;
use axum::http::{HeaderName, header, request::Parts};
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Operation, ParameterIn};

use super::IF_MATCH;

/// Operations that ignore preconditions, each with the reason.
const IGNORING: [(&str, &str); 3] = [
    ("forward_oidc_response", "a browser sends it for an issuer, and it writes nothing"),
    ("start_device_authorization", "its errors are OAuth's (RFC 8628), and each request is a new one"),
    ("receive_webhook", "the sender is another system, and the call is new whatever it says about states"),
];

/// Preconditions that an operation which writes cannot check. An extension of its requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RefusedPreconditions {
    takes_if_match: bool,
}

impl RefusedPreconditions {
    /// Returns what an operation refuses that is not a read; `None` if it ignores preconditions.
    pub(crate) fn of(operation: &Operation) -> Option<Self> {
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
/// 400 `invalid_request`.
pub(crate) fn refuse_preconditions(request: &Parts) -> Result<(), Problem> {
    let Some(refused) = request.extensions.get::<RefusedPreconditions>() else { return Ok(()) };
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
    use axum::http::Request;

    use super::*;
    use crate::http::conditional::IfMatch;

    fn operation(id: &str, takes_if_match: bool) -> Operation {
        let mut operation = Operation::new();
        operation.operation_id = Some(id.to_owned());
        if takes_if_match {
            let parameters = <IfMatch as utoipa::IntoParams>::into_params(|| None);
            operation.parameters = Some(parameters.into_iter().map(RefOr::T).collect());
        }
        operation
    }

    #[test]
    fn a_precondition_that_is_not_checked_is_refused() {
        let is_refused = |operation: &Operation, header: HeaderName| {
            let mut request = Request::new(()).into_parts().0;
            request.headers.insert(header, "*".parse().unwrap());
            if let Some(refused) = RefusedPreconditions::of(operation) {
                request.extensions.insert(refused);
            }
            refuse_preconditions(&request).is_err_and(|problem| problem.code == "invalid_request")
        };
        for (operation, if_match, if_none_match) in [
            (operation("update_app", true), false, true),
            (operation("create_app", false), true, true),
            (operation("receive_webhook", false), false, false),
        ] {
            assert_eq!(is_refused(&operation, header::IF_MATCH), if_match, "{:?}", operation.operation_id);
            assert_eq!(is_refused(&operation, header::IF_NONE_MATCH), if_none_match);
            assert!(!is_refused(&operation, header::IF_UNMODIFIED_SINCE));
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
