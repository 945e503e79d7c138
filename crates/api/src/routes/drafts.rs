//! Drafts of apps: code that a person tries before it is a version.

mod delete;
mod invoke;
mod outcome;
mod read;
mod save;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(read::read_draft))
        .routes(op!(save::put_draft, cost = 2))
        .routes(op!(delete::delete_draft))
        .routes(op!(invoke::invoke_draft, cost = 10))
}
