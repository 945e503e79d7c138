//! Automations, which are called roads on the wire.

mod create;
mod delete;
mod latest_runs;
mod list;
mod occurrences;
mod read;
mod start;
mod update;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(list::list_automations))
        .routes(op!(latest_runs::list_latest_runs, cost = 3))
        .routes(op!(create::create_automation))
        .routes(op!(read::read_automation))
        .routes(op!(occurrences::list_occurrences))
        .routes(op!(update::update_automation))
        .routes(op!(delete::delete_automation))
        .routes(op!(start::start_automation, cost = 5))
}
