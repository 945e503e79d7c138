//! Setting webhooks up.

mod change;
mod configure;
mod form;
mod read;
mod rotate;
mod test;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::{auth::access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::console("can_edit"), read::read_webhook))
        .routes(op!(Access::console("can_edit").cost(5), configure::configure_webhook))
        .routes(op!(Access::console("can_edit"), change::change_webhook))
        .routes(op!(Access::console("can_edit").cost(5), rotate::rotate_webhook))
        .routes(op!(Access::console("can_edit").cost(10), test::test_webhook))
}
