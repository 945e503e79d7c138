//! Reads of what the client has already.

use application::Problem;
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use utoipa::{
    IntoParams,
    openapi::{
        Required,
        path::{Parameter, ParameterBuilder, ParameterIn},
        schema::{ObjectBuilder, Type},
    },
};

use super::{EntityTag, Representation, Tagged, tag_list::TagList};
use crate::state::Api;

/// Name of the header in the description.
pub(crate) const IF_NONE_MATCH: &str = "If-None-Match";

/// Representations that the client has already. A header that is not valid counts as none.
#[derive(Debug)]
pub(crate) struct IfNoneMatch(Option<TagList>);

impl IfNoneMatch {
    /// Reads the header.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Self {
        Self(TagList::from_headers(headers, &header::IF_NONE_MATCH).ok().flatten())
    }

    /// Returns `true` if the client has the representation with this tag.
    pub(crate) fn has(&self, tag: &EntityTag) -> bool {
        self.0.as_ref().is_some_and(|known| known.matches_weakly(tag))
    }

    /// Returns the object with its tag, or 304 if the client has it already.
    ///
    /// # Errors
    /// 500 `internal` if the object cannot be serialized.
    pub(crate) fn respond<T: Representation>(&self, object: T) -> Result<Response, Problem> {
        // A tag that leaves members out does not show whether they have changed.
        const { assert!(T::COMPUTED.is_empty(), "the tag must cover the whole representation") };
        let tag = object.entity_tag()?;
        Ok(self.unless_known(&tag, || Tagged(object).into_response()))
    }

    /// Returns the response with this tag, or 304 if the client has it already.
    pub(crate) fn unless_known(&self, tag: &EntityTag, response: impl FnOnce() -> Response) -> Response {
        let mut response = if self.has(tag) { StatusCode::NOT_MODIFIED.into_response() } else { response() };
        tag.insert_into(&mut response);
        response
    }
}

impl FromRequestParts<Api> for IfNoneMatch {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Self, Self::Rejection> {
        Ok(Self::from_headers(&parts.headers))
    }
}

impl IntoParams for IfNoneMatch {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let description = "The `ETag` of the object as you have it, a list of them, or `*`. If it is still the same, the \
                           response is 304 without a body.";
        vec![
            ParameterBuilder::new()
                .name(IF_NONE_MATCH)
                .parameter_in(ParameterIn::Header)
                .required(Required::False)
                .description(Some(description))
                .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
                .build(),
        ]
    }
}
