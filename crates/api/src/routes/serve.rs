//! Apps answering over HTTP, in development under `/a/{slug}/…`.

mod answer;

use axum::{Router, routing::any};

use crate::state::Api;

pub(crate) fn router() -> Router<Api> {
    Router::new()
        .route("/a/{slug}", any(answer::redirect_to_root))
        .route("/a/{slug}/", any(answer::answer))
        .route("/a/{slug}/{*path}", any(answer::answer))
}
