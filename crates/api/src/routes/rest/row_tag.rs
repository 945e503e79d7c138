//! Entity tags of rows: digests of a row's JSON with all columns that the caller can read. A part of a row has none.

use std::sync::Arc;

use axum::{http::StatusCode, response::Response};
use backend_data::Engine;
use bytes::Bytes;

use super::response_options::json_response;
use crate::http::conditional::{EntityTag, IfMatch};

/// Returns the engine that writes a row only if it is as the request requires.
pub(crate) fn with_if_match(rows: &Engine, if_match: IfMatch) -> Engine {
    if if_match.permits_any_state() {
        return rows.clone();
    }
    rows.with_precondition(Arc::new(move |row| if_match.permits(&EntityTag::of_bytes(row))))
}

/// Returns a response with a row of all columns, and its tag.
pub(crate) fn tagged_row(row: Bytes) -> Response {
    let tag = EntityTag::of_bytes(&row);
    let mut response = json_response(StatusCode::OK, row);
    tag.insert_into(&mut response);
    response
}
