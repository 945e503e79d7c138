//! HTTP and HTML: what does not depend on a particular operation.

pub(crate) mod compression;
pub(crate) mod conditional;
pub(crate) mod error;
pub(crate) mod event_stream;
pub(crate) mod extract;
pub(crate) mod openapi;
pub(crate) mod pages;
pub(crate) mod paging;
pub(crate) mod request_middleware;
pub(crate) mod schemas;
pub(crate) mod sse;
pub(crate) mod table_view;
pub(crate) mod views;
mod yielding_body;
