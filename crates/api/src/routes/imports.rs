//! Imports of other tools' workflows.

mod analyze;
mod create;
mod discard;
mod enable;
mod list;
mod read;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

/// Maximum length of a body with an export, in bytes. A character of its 400,000 takes up to twelve in JSON, as two escapes.
const MAX_BODY: usize = 5 << 20;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(analyze::analyze_import, cost = 10))
        .routes(op!(create::create_import, cost = 20))
        .routes(op!(list::list_imports, cost = 5))
        .routes(op!(read::read_import))
        .routes(op!(enable::enable_import, cost = 5))
        .routes(op!(discard::discard_import))
}
