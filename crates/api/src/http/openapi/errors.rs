//! Error responses that many operations have, described once as components.

use std::borrow::Cow;

use utoipa::{
    ToSchema as _,
    openapi::{Components, Ref, RefOr, Response},
};

use super::error_response;
use crate::http::error::{DataErrorEnvelope, ErrorEnvelope};

/// Properties of an operation from which its errors follow.
pub(super) struct Errors {
    /// It reads a body, a parameter or a query.
    pub(super) takes_input: bool,
    /// It requires a credential.
    pub(super) requires_credential: bool,
    /// Its path names an object.
    pub(super) names_object: bool,
    /// It may change something.
    pub(super) changes: bool,
    /// It reads a body.
    pub(super) has_body: bool,
    /// It takes `If-Match`.
    pub(super) has_precondition: bool,
    /// It is an operation of the API and not of the server.
    pub(super) is_limited: bool,
    /// Its errors have the members of the data API too.
    pub(super) is_data: bool,
}

/// An error response: status, name of the component, operations that have it, and its description.
type SharedError = (&'static str, &'static str, fn(&Errors) -> bool, &'static str);

const SHARED: [SharedError; 10] = [
    (
        "400",
        "BadRequest",
        |it| it.takes_input,
        "The body, path or query does not match the schema; the message names the field.",
    ),
    (
        "401",
        "Unauthorized",
        |it| it.requires_credential,
        "You are not signed in, or the credential is missing, expired or revoked.",
    ),
    ("403", "Forbidden", |it| it.requires_credential, "You are not allowed to do this; the code says why."),
    ("404", "NotFound", |it| it.names_object, "The object does not exist, or you may not see it."),
    ("409", "Conflict", |it| it.changes, "The request conflicts with the current state."),
    (
        "412",
        "ChangedMeanwhile",
        |it| it.has_precondition,
        "The object has changed since you read it; nothing was written.",
    ),
    ("413", "TooLarge", |it| it.has_body, "The body is too large."),
    ("415", "UnsupportedMediaType", |it| it.has_body, "The operation does not support the `Content-Type`."),
    (
        "429",
        "TooManyRequests",
        |it| it.is_limited,
        "Too many requests; retry after the seconds in `Retry-After`.",
    ),
    (
        "503",
        "Unavailable",
        |it| it.is_limited,
        "The server cannot handle the request right now; retry later.",
    ),
];

impl Errors {
    /// Returns the shared errors of the operation, by status.
    pub(super) fn responses(&self) -> impl Iterator<Item = (&'static str, RefOr<Response>)> {
        SHARED.into_iter().filter(|(_, _, applies, _)| applies(self)).map(|(status, name, ..)| {
            (status, Ref::from_response_name(component_name(name, self.is_data)).into())
        })
    }
}

/// Adds the shared errors to the components.
pub(super) fn describe(components: &mut Components) {
    for (_, name, _, description) in SHARED {
        for (is_data, envelope) in [(false, ErrorEnvelope::name()), (true, DataErrorEnvelope::name())] {
            let response = error_response(description, &envelope);
            components.responses.insert(component_name(name, is_data).into_owned(), response.into());
        }
    }
}

fn component_name(name: &'static str, is_data: bool) -> Cow<'static, str> {
    if is_data { format!("Data{name}").into() } else { name.into() }
}
