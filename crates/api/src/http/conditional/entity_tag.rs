//! Strong entity tags.

use application::Problem;
use axum::{
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::http::error::ApiError;

/// Number of bytes of a digest that a tag has: enough that no two states of an object share a tag.
const TAG_BYTES: usize = 16;

/// Strong entity tag (RFC 9110, section 8.8.3), with its quotation marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntityTag(String);

impl EntityTag {
    /// Returns the tag of these bytes.
    pub(crate) fn of_bytes(bytes: &[u8]) -> Self {
        const DIGITS: [char; 16] =
            ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
        let digest = Sha256::digest(bytes);
        let mut tag = String::with_capacity(2 * TAG_BYTES + 2);
        tag.push('"');
        for byte in digest.iter().take(TAG_BYTES).map(|byte| usize::from(*byte)) {
            tag.extend([DIGITS[byte >> 4], DIGITS[byte & 15]]);
        }
        tag.push('"');
        Self(tag)
    }

    /// Returns the tag as it stands in a header.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the opaque part of the tag, between the quotation marks.
    pub(super) fn opaque(&self) -> &[u8] {
        self.0.trim_matches('"').as_bytes()
    }

    /// Adds the tag to a response.
    pub(crate) fn insert_into(&self, response: &mut Response) {
        response.headers_mut().insert(header::ETAG, self.header_value(""));
    }

    /// Returns the tag as one of a representation that may be sent in other bytes.
    pub(crate) fn to_weak_value(&self) -> HeaderValue {
        self.header_value("W/")
    }

    fn header_value(&self, prefix: &str) -> HeaderValue {
        let text = format!("{prefix}{}", self.0);
        // Hexadecimal digits in quotation marks are always a valid value.
        HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("\"\""))
    }
}

/// The representation of an object that a read and the other operations return.
pub(crate) trait Representation: Serialize {
    /// Members that the server computes, such as counts and times of what comes next. The tag leaves them out: a client
    /// cannot change them, and a write must not fail because of them.
    const COMPUTED: &'static [&'static str] = &[];

    /// Returns the entity tag of the object.
    ///
    /// # Errors
    /// 500 `internal` if the object cannot be serialized.
    fn entity_tag(&self) -> Result<EntityTag, Problem> {
        if Self::COMPUTED.is_empty() {
            return Ok(EntityTag::of_bytes(&serde_json::to_vec(self).map_err(Problem::internal)?));
        }
        let mut value = serde_json::to_value(self).map_err(Problem::internal)?;
        if let Some(members) = value.as_object_mut() {
            members.retain(|name, _| !Self::COMPUTED.contains(&name.as_str()));
        }
        Ok(EntityTag::of_bytes(&serde_json::to_vec(&value).map_err(Problem::internal)?))
    }
}

/// Response with an object and its entity tag.
#[derive(Debug)]
pub(crate) struct Tagged<T>(pub(crate) T);

impl<T: Representation> IntoResponse for Tagged<T> {
    fn into_response(self) -> Response {
        let tagged = || {
            let tag = self.0.entity_tag()?;
            let mut response = axum::Json(&self.0).into_response();
            tag.insert_into(&mut response);
            Ok::<_, Problem>(response)
        };
        tagged().unwrap_or_else(|problem| ApiError(problem).into_response())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Serialize)]
    struct Plain {
        name: &'static str,
        next: u8,
    }

    impl Representation for Plain {}

    #[derive(Serialize)]
    struct Scheduled {
        name: &'static str,
        next: u8,
    }

    impl Representation for Scheduled {
        const COMPUTED: &'static [&'static str] = &["next"];
    }

    #[derive(Serialize)]
    struct WithoutNext {
        name: &'static str,
    }

    impl Representation for WithoutNext {
        const COMPUTED: &'static [&'static str] = &["next"];
    }

    #[test]
    fn a_tag_changes_with_every_member() {
        let tag = |name, next| Plain { name, next }.entity_tag().unwrap();
        assert_eq!(tag("a", 1), tag("a", 1));
        assert_ne!(tag("a", 1), tag("b", 1));
        assert_ne!(tag("a", 1), tag("a", 2));
    }

    #[test]
    fn members_that_the_server_computes_do_not_change_a_tag() {
        let tag = |name, next| Scheduled { name, next }.entity_tag().unwrap();
        assert_eq!(tag("a", 1), tag("a", 2));
        assert_ne!(tag("a", 1), tag("b", 1));
        assert_eq!(tag("a", 1), WithoutNext { name: "a" }.entity_tag().unwrap());
    }

    #[test]
    fn a_tagged_response_has_a_quoted_tag() {
        let response = Tagged(Plain { name: "a", next: 1 }).into_response();
        let tag = response.headers()[header::ETAG].to_str().unwrap();
        assert_eq!((tag.len(), tag.matches('"').count()), (34, 2), "{tag}");
    }
}
