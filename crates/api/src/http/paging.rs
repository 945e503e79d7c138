//! Pages of lists: their query parameters, and the address of the next page where the body is a bare array.

use application::Problem;
use axum::{
    Json,
    http::{HeaderMap, HeaderValue, header},
};
use kernel::page::{InvalidPage, MAX_LIMIT, Page, PageRequest, Position};
use serde::{Deserialize, Serialize};
use utoipa::IntoParams;

/// Page of a list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageParams {
    /// The `nextCursor` of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200, default = 50)]
    limit: Option<u32>,
}

impl PageParams {
    /// Returns the page that is requested.
    ///
    /// # Errors
    /// [`InvalidPage`], which names the invalid parameter.
    pub(crate) fn request<P: Position>(&self) -> Result<PageRequest<P>, InvalidPage> {
        PageRequest::parse(self.limit, self.cursor.as_deref())
    }
}

/// Page of a list that is a bare array.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct LinkedPageParams {
    /// Cursor from the `Link` header of the previous page.
    cursor: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200, default = 200)]
    limit: Option<u32>,
}

impl LinkedPageParams {
    /// Returns the page that is requested. Clients that do not know of pages get as much as one can have.
    ///
    /// # Errors
    /// [`InvalidPage`], which names the invalid parameter.
    pub(crate) fn request<P: Position>(&self) -> Result<PageRequest<P>, InvalidPage> {
        PageRequest::parse(self.limit.or(Some(MAX_LIMIT)), self.cursor.as_deref())
    }
}

/// A bare array, with the address of the next page in a `Link` header (RFC 8288).
pub(crate) type LinkedPage<T> = (HeaderMap, Json<Vec<T>>);

/// Returns a page of the list at `path`.
///
/// # Errors
/// 500 `internal` if the address is not a valid header.
pub(crate) fn linked_page<T: Serialize>(
    path: &str,
    limit: u32,
    page: Page<T>,
) -> Result<LinkedPage<T>, Problem> {
    let mut headers = HeaderMap::new();
    if let Some(cursor) = page.next_cursor {
        let next = format!("<{path}?limit={limit}&cursor={cursor}>; rel=\"next\"");
        headers.insert(header::LINK, HeaderValue::try_from(next).map_err(Problem::internal)?);
    }
    Ok((headers, Json(page.items)))
}
