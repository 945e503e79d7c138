//! The value of `If-Match` and of `If-None-Match` (RFC 9110, sections 13.1.1 and 13.1.2).

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::EntityTag;

/// Entity tags that a client lists, or `*`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TagList {
    /// `*`: any representation.
    Any,
    /// One of these.
    Tags(Vec<ListedTag>),
}

/// An entity tag as a client sends it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ListedTag {
    is_weak: bool,
    opaque: Vec<u8>,
}

/// Error of a header that is neither `*` nor a list of entity tags.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MalformedTagList;

impl TagList {
    /// Reads a header, which may occur several times; `None` if it is absent.
    pub(super) fn from_headers(
        headers: &HeaderMap,
        name: &HeaderName,
    ) -> Result<Option<Self>, MalformedTagList> {
        let lines: Vec<&[u8]> = headers.get_all(name).iter().map(HeaderValue::as_bytes).collect();
        if lines.is_empty() { Ok(None) } else { Self::parse(&lines.join(&b","[..])).map(Some) }
    }

    fn parse(value: &[u8]) -> Result<Self, MalformedTagList> {
        let mut rest = value.trim_ascii();
        if rest == b"*" {
            return Ok(Self::Any);
        }
        let mut tags = Vec::new();
        loop {
            // A list may have empty elements (RFC 9110, section 5.6.1).
            while let Some(after) = rest.strip_prefix(b",") {
                rest = after.trim_ascii_start();
            }
            if rest.is_empty() {
                return if tags.is_empty() { Err(MalformedTagList) } else { Ok(Self::Tags(tags)) };
            }
            let (is_weak, quoted) = rest.strip_prefix(b"W/").map_or((false, rest), |quoted| (true, quoted));
            let opened = quoted.strip_prefix(b"\"").ok_or(MalformedTagList)?;
            let end = opened.iter().position(|byte| *byte == b'"').ok_or(MalformedTagList)?;
            let opaque = &opened[..end];
            if opaque.iter().any(|byte| *byte <= b' ' || *byte == 0x7f) {
                return Err(MalformedTagList);
            }
            tags.push(ListedTag { is_weak, opaque: opaque.to_vec() });
            rest = opened[end + 1..].trim_ascii_start();
            if !rest.is_empty() && !rest.starts_with(b",") {
                return Err(MalformedTagList);
            }
        }
    }

    /// Compares strongly (RFC 9110, section 8.8.3.2): a weak tag matches nothing.
    pub(super) fn matches_strongly(&self, tag: &EntityTag) -> bool {
        match self {
            Self::Any => true,
            Self::Tags(tags) => tags.iter().any(|known| !known.is_weak && known.opaque == tag.opaque()),
        }
    }

    /// Compares weakly: only the opaque parts count.
    pub(super) fn matches_weakly(&self, tag: &EntityTag) -> bool {
        match self {
            Self::Any => true,
            Self::Tags(tags) => tags.iter().any(|known| known.opaque == tag.opaque()),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::header;

    use super::*;

    fn tag(is_weak: bool, opaque: &str) -> ListedTag {
        ListedTag { is_weak, opaque: opaque.into() }
    }

    #[test]
    fn a_list_has_strong_and_weak_tags_with_commas_inside() {
        let cases: [(&str, TagList); 6] = [
            ("*", TagList::Any),
            (" * ", TagList::Any),
            ("\"a\"", TagList::Tags(vec![tag(false, "a")])),
            ("\"\"", TagList::Tags(vec![tag(false, "")])),
            ("W/\"a\" ,, \"b,c\"", TagList::Tags(vec![tag(true, "a"), tag(false, "b,c")])),
            ("\"a\",\"W/b\"", TagList::Tags(vec![tag(false, "a"), tag(false, "W/b")])),
        ];
        for (text, expected) in cases {
            assert_eq!(TagList::parse(text.as_bytes()), Ok(expected), "{text}");
        }
        for text in ["", ",", "a", "\"a", "w/\"a\"", "\"a\" \"b\"", "*, \"a\"", "\"a\", *", "\"a b\"", "W/a"]
        {
            assert_eq!(TagList::parse(text.as_bytes()), Err(MalformedTagList), "{text}");
        }
    }

    #[test]
    fn a_weak_tag_matches_only_weakly() {
        let current = EntityTag::of_bytes(b"state");
        let opaque = String::from_utf8(current.opaque().to_vec()).unwrap();
        let listed = |text: String| TagList::parse(text.as_bytes()).unwrap();
        for (text, strongly, weakly) in [
            ("*".to_owned(), true, true),
            (format!("\"x\", \"{opaque}\""), true, true),
            (format!("W/\"{opaque}\""), false, true),
            ("\"x\"".to_owned(), false, false),
        ] {
            let list = listed(text.clone());
            let compared = (list.matches_strongly(&current), list.matches_weakly(&current));
            assert_eq!(compared, (strongly, weakly), "{text}");
        }
    }

    #[test]
    fn several_lines_are_one_list() {
        let mut headers = HeaderMap::new();
        assert_eq!(TagList::from_headers(&headers, &header::IF_MATCH), Ok(None));
        headers.append(header::IF_MATCH, HeaderValue::from_static("\"a\""));
        headers.append(header::IF_MATCH, HeaderValue::from_static("\"b\""));
        let expected = TagList::Tags(vec![tag(false, "a"), tag(false, "b")]);
        assert_eq!(TagList::from_headers(&headers, &header::IF_MATCH), Ok(Some(expected)));
    }
}
