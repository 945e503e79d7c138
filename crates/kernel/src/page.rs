//! Opaque cursors for lists that are ordered by id.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use uuid::Uuid;

use crate::{Id, Problem};

/// Default number of items on a page.
pub const DEFAULT_LIMIT: u32 = 50;
/// Maximum number of items on a page.
pub const MAX_LIMIT: u32 = 200;

/// The part of a list that a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// Maximum number of items, 1 to [`MAX_LIMIT`].
    pub limit: u32,
    /// The id of the last item of the page before; `None` for the first page.
    pub after: Option<Uuid>,
}

impl PageRequest {
    /// Parses the query parameters `limit` and `cursor`.
    ///
    /// # Errors
    /// 400 `invalid_request`, which names the invalid parameter.
    pub fn parse(limit: Option<u32>, cursor: Option<&str>) -> Result<Self, Problem> {
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(Problem::invalid_field("limit", format_args!("must be from 1 to {MAX_LIMIT}")));
        }
        let after = cursor.map(decode_cursor).transpose()?;
        Ok(Self { limit, after })
    }
}

fn decode_cursor(cursor: &str) -> Result<Uuid, Problem> {
    let invalid = || {
        Problem::invalid_field("cursor", "is not a cursor of this list")
            .hint("Start from the first page, without `cursor`.")
    };
    let mut bytes = [0_u8; 18];
    let length = URL_SAFE_NO_PAD.decode_slice(cursor, &mut bytes).map_err(|_| invalid())?;
    Uuid::from_slice(&bytes[..length]).map_err(|_| invalid())
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The items, in the order of the list.
    pub items: Vec<T>,
    /// The cursor of the next page; `None` on the last page.
    pub next_cursor: Option<String>,
}

impl<T> Page<T> {
    /// Creates a page from up to `limit + 1` items that a store returned. The extra item only shows that another page
    /// follows.
    #[must_use]
    pub fn from_limit_plus_one<K>(mut items: Vec<T>, limit: u32, id: impl Fn(&T) -> Id<K>) -> Self {
        let limit = limit as usize;
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(|last| URL_SAFE_NO_PAD.encode(id(last).uuid()));
        Self { items, next_cursor: next }
    }

    /// Converts the items and keeps the cursor.
    #[must_use]
    pub fn map<U>(self, each: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(each).collect(), next_cursor: self.next_cursor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::RunId;

    #[test]
    fn a_cursor_names_the_last_item_of_a_page_that_is_followed() {
        let ids: Vec<RunId> = (1..=3).map(|number| Id::from_uuid(Uuid::from_u128(number))).collect();
        let page = Page::from_limit_plus_one(ids.clone(), 2, |id| *id);
        assert_eq!(page.items, ids[..2]);
        let next = PageRequest::parse(None, page.next_cursor.as_deref()).unwrap();
        assert_eq!(next.after, Some(ids[1].uuid()));
        assert_eq!(Page::from_limit_plus_one(ids, 3, |id| *id).next_cursor, None);
    }

    #[test]
    fn an_invalid_parameter_is_named() {
        for limit in [0, 201] {
            assert!(PageRequest::parse(Some(limit), None).unwrap_err().message.contains("`limit`"));
        }
        for cursor in ["", "x", "!!!", "AAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
            assert!(
                PageRequest::parse(None, Some(cursor)).unwrap_err().message.contains("`cursor`"),
                "{cursor}"
            );
        }
    }
}
