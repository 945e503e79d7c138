//! Writes that depend on the state in which the client read the object.

use application::Problem;
use axum::{
    extract::FromRequestParts,
    http::{HeaderMap, header, request::Parts},
};
use utoipa::{
    IntoParams,
    openapi::{
        Required,
        path::{Parameter, ParameterBuilder, ParameterIn},
        schema::{ObjectBuilder, Type},
    },
};

use super::{EntityTag, Representation, tag_list::TagList};
use crate::{http::error::ApiError, state::Api};

/// Name of the header in the description.
pub(crate) const IF_MATCH: &str = "If-Match";

/// Precondition of a write: the object must be in a state that the client knows. Without the header, there is none.
#[derive(Debug)]
pub(crate) struct IfMatch(Option<TagList>);

impl IfMatch {
    /// Reads the header. One that is not valid is refused, since to ignore it would lose the precondition.
    ///
    /// # Errors
    /// 400 `invalid_request`.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Result<Self, Problem> {
        let tags = TagList::from_headers(headers, &header::IF_MATCH);
        Ok(Self(tags.map_err(|_| {
            Problem::invalid_field(IF_MATCH, "must be `*` or a list of entity tags, such as `\"0a1b\"`")
        })?))
    }

    /// Checks the precondition. Call it in the transaction of the write, with a read of the object that locks it; the
    /// read is not made without a precondition. An object that does not exist matches nothing.
    ///
    /// # Errors
    /// 412 `changed_meanwhile` if the object is in another state; the error of the read.
    pub(crate) async fn check<T: Representation>(
        &self,
        locked: impl Future<Output = Result<Option<T>, Problem>>,
    ) -> Result<(), Problem> {
        if self.0.is_none() {
            return Ok(());
        }
        let current = locked.await?;
        let tag = current.map(|current| current.entity_tag()).transpose()?;
        if tag.is_some_and(|tag| self.permits(&tag)) { Ok(()) } else { Err(Problem::changed_meanwhile()) }
    }

    /// Returns `true` if any state of an object that exists will do.
    pub(crate) fn permits_any_state(&self) -> bool {
        self.0.as_ref().is_none_or(|known| matches!(known, TagList::Any))
    }

    /// Returns `true` if there is no precondition, or the tag meets it.
    pub(crate) fn permits(&self, tag: &EntityTag) -> bool {
        self.0.as_ref().is_none_or(|known| known.matches_strongly(tag))
    }
}

impl FromRequestParts<Api> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Api) -> Result<Self, ApiError> {
        Ok(Self::from_headers(&parts.headers)?)
    }
}

impl IntoParams for IfMatch {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let description = "The `ETag` of the object as you read it, a list of them, or `*`. If the object has changed \
                           since, nothing is written: 412 `changed_meanwhile`.";
        vec![
            ParameterBuilder::new()
                .name(IF_MATCH)
                .parameter_in(ParameterIn::Header)
                .required(Required::False)
                .description(Some(description))
                .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
                .build(),
        ]
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;

    #[derive(Serialize)]
    struct Named(&'static str);

    impl Representation for Named {}

    fn precondition(name: &'static str) -> IfMatch {
        let tag = Named(name).entity_tag().unwrap();
        let opaque = String::from_utf8(tag.opaque().to_vec()).unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(header::IF_MATCH, format!("\"{opaque}\"").parse().unwrap());
        IfMatch(TagList::from_headers(&headers, &header::IF_MATCH).unwrap())
    }

    #[tokio::test]
    async fn only_the_known_state_may_be_written() {
        let is_refused = async |precondition: &IfMatch, current: Option<Named>| {
            let refused = precondition.check(async { Ok(current) }).await;
            refused.is_err_and(|problem| problem.code == "changed_meanwhile")
        };
        assert!(!is_refused(&precondition("a"), Some(Named("a"))).await);
        assert!(is_refused(&precondition("a"), Some(Named("b"))).await);
        assert!(is_refused(&precondition("a"), None).await);
        assert!(!is_refused(&IfMatch(Some(TagList::Any)), Some(Named("b"))).await);
        assert!(is_refused(&IfMatch(Some(TagList::Any)), None).await);
    }

    #[tokio::test]
    async fn without_a_precondition_nothing_is_read() {
        let read = async { Err::<Option<Named>, _>(Problem::not_found("app")) };
        assert!(IfMatch(None).check(read).await.is_ok());
    }

    #[tokio::test]
    async fn an_object_that_is_gone_is_not_found_rather_than_changed() {
        let gone = async { Err::<Option<Named>, _>(Problem::not_found("app")) };
        let refused = precondition("a").check(gone).await.unwrap_err();
        assert_eq!(refused.code, "app_not_found");
    }
}
