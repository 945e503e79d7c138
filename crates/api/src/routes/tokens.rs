//! Personal access tokens.

mod create;
mod list;
mod read_self;
mod revoke;
mod revoke_self;
pub(crate) mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(read_self::read_own_token))
        .routes(op!(revoke_self::revoke_own_token))
        .routes(op!(list::list_tokens))
        .routes(op!(create::create_token, cost = 5))
        .routes(op!(revoke::revoke_token))
}
