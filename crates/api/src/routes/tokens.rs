//! Personal access tokens.

mod create;
mod list;
mod read_self;
mod revoke;
mod revoke_self;
pub(crate) mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::{auth::access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::token(), read_self::read_own_token))
        .routes(op!(Access::token(), revoke_self::revoke_own_token))
        .routes(op!(Access::console("member"), list::list_tokens))
        .routes(op!(Access::console("member").cost(5), create::create_token))
        .routes(op!(Access::console("member"), revoke::revoke_token))
}
