//! Viewing a workspace as a role with less authority. What a request may then see follows from
//! `kernel::authority::authorize_member`.

use std::borrow::Cow;

use application::Problem;
use axum::http::{HeaderMap, HeaderName, request::Parts};
use kernel::{
    Caller,
    caller::{SessionCaller, ViewedRole},
};

/// Header with the role.
pub(crate) const VIEW_AS: HeaderName = HeaderName::from_static("qala-view-as");

/// Query parameter with the role, for `EventSource`, which cannot send headers.
const VIEW_AS_PARAMETER: &str = "viewAs";

/// Returns the caller in the view that the request asks for.
///
/// # Errors
/// 403 `view_is_read_only` for a request that may change something; 403 `console_only` for a caller other than a session;
/// 400 `invalid_request` for an unknown role.
pub(crate) fn apply(parts: &Parts, is_read: bool, caller: Caller) -> Result<Caller, Problem> {
    let Some(requested) = requested_view(parts)? else { return Ok(caller) };
    let Caller::Session(session) = caller else { return Err(not_a_session()) };
    if !is_read {
        return Err(Problem::forbidden(
            "view_is_read_only",
            "A view as another role cannot change anything.",
        )
        .hint("Send the request without Qala-View-As."));
    }
    Ok(Caller::Session(SessionCaller { view_as: Some(requested), ..session }))
}

/// Refuses a request with a view, for callers that have none.
///
/// # Errors
/// 403 `console_only`.
pub(crate) fn refuse(headers: &HeaderMap) -> Result<(), Problem> {
    if headers.contains_key(VIEW_AS) { Err(not_a_session()) } else { Ok(()) }
}

fn not_a_session() -> Problem {
    let message = "Only a person who is signed in to the console can view a workspace as another role.";
    Problem::forbidden("console_only", message)
}

fn requested_view(parts: &Parts) -> Result<Option<ViewedRole>, Problem> {
    let mut headers = parts.headers.get_all(VIEW_AS).iter();
    let header = headers.next();
    let query = parts.uri.query().unwrap_or_default();
    let parameter = || {
        let mut pairs = url::form_urlencoded::parse(query.as_bytes());
        pairs.find(|(name, _)| name == VIEW_AS_PARAMETER).map(|(_, value)| value)
    };
    let (name, text): (_, Cow<'_, str>) = match header {
        Some(value) => ("Qala-View-As", value.to_str().unwrap_or_default().into()),
        None => match parameter() {
            Some(value) => (VIEW_AS_PARAMETER, value),
            None => return Ok(None),
        },
    };
    if headers.next().is_some() {
        return Err(Problem::invalid_field(name, "is sent more than once"));
    }
    text.parse().map(Some).map_err(|error| Problem::invalid_field(name, error))
}
