//! Pages of lists, and their opaque cursors.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use uuid::Uuid;

use crate::Id;

/// Default number of items on a page.
pub const DEFAULT_LIMIT: u32 = 50;
/// Maximum number of items on a page.
pub const MAX_LIMIT: u32 = 200;

/// Place of an item in the order of its list, which a cursor encodes. It does not change while the item exists, so that
/// pages stay stable when others are added or removed.
pub trait Position: Sized {
    /// Returns the position as bytes.
    fn to_bytes(&self) -> Vec<u8>;

    /// Reads a position; `None` if the bytes are not one.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

impl Position for Uuid {
    fn to_bytes(&self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::from_slice(bytes).ok()
    }
}

impl<K> Position for Id<K> {
    fn to_bytes(&self) -> Vec<u8> {
        Position::to_bytes(&self.uuid())
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        <Uuid as Position>::from_bytes(bytes).map(Self::from_uuid)
    }
}

impl Position for u64 {
    fn to_bytes(&self) -> Vec<u8> {
        self.to_be_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self::from_be_bytes)
    }
}

/// The part of a list that a request asks for. `P` is the position of its items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest<P = Uuid> {
    /// Maximum number of items, 1 to [`MAX_LIMIT`].
    pub limit: u32,
    /// The position of the last item of the page before; `None` for the first page.
    pub after: Option<P>,
}

impl<P> PageRequest<P> {
    /// Requests the first `limit` items; at most [`MAX_LIMIT`].
    #[must_use]
    pub fn first(limit: u32) -> Self {
        Self { limit: limit.min(MAX_LIMIT), after: None }
    }
}

impl<P: Position> PageRequest<P> {
    /// Parses the query parameters `limit` and `cursor`.
    ///
    /// # Errors
    /// [`InvalidPage`], which names the invalid parameter.
    pub fn parse(limit: Option<u32>, cursor: Option<&str>) -> Result<Self, InvalidPage> {
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(InvalidPage::Limit);
        }
        let after = cursor.map(decode_cursor).transpose()?;
        Ok(Self { limit, after })
    }
}

/// Error of the parameters of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPage {
    /// The limit is 0 or more than [`MAX_LIMIT`].
    #[error("the limit is not from 1 to {MAX_LIMIT}")]
    Limit,
    /// The text is not the cursor of a page.
    #[error("the cursor is malformed")]
    Cursor,
}

fn decode_cursor<P: Position>(cursor: &str) -> Result<P, InvalidPage> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| InvalidPage::Cursor)?;
    P::from_bytes(&bytes).ok_or(InvalidPage::Cursor)
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
    pub fn from_limit_plus_one<P: Position>(
        mut items: Vec<T>,
        limit: u32,
        position: impl Fn(&T) -> P,
    ) -> Self {
        let limit = limit as usize;
        let more = items.len() > limit;
        items.truncate(limit);
        let next =
            items.last().filter(|_| more).map(|last| URL_SAFE_NO_PAD.encode(position(last).to_bytes()));
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
        let next = <PageRequest>::parse(None, page.next_cursor.as_deref()).unwrap();
        assert_eq!(next.after, Some(ids[1].uuid()));
        assert_eq!(Page::from_limit_plus_one(ids, 3, |id| *id).next_cursor, None);
    }

    #[test]
    fn an_invalid_parameter_is_named() {
        for limit in [0, 201] {
            assert_eq!(<PageRequest>::parse(Some(limit), None), Err(InvalidPage::Limit));
        }
        for cursor in ["", "x", "!!!", "AAAA", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
            assert_eq!(<PageRequest>::parse(None, Some(cursor)), Err(InvalidPage::Cursor), "{cursor}");
        }
    }
    #[test]
    fn a_cursor_of_another_list_is_refused() {
        let page = Page::from_limit_plus_one(vec![3_u64, 2], 1, |number| *number);
        let cursor = page.next_cursor.as_deref();
        assert_eq!(
            PageRequest::parse(None, cursor),
            Ok(PageRequest { limit: DEFAULT_LIMIT, after: Some(3_u64) })
        );
        assert_eq!(<PageRequest>::parse(None, cursor), Err(InvalidPage::Cursor));
    }
}
