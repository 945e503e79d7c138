//! Whether the server lives and can serve.

mod healthz;
mod readyz;

use utoipa_axum::router::OpenApiRouter;

use crate::{access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::public(), healthz::healthz))
        .routes(op!(Access::public(), readyz::readyz))
}
