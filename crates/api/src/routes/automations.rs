//! Automations, which people call roads.

mod create;
mod delete;
mod list;
mod occurrences;
mod read;
mod start;
mod update;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::{auth::access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::read("member"), list::list_automations))
        .routes(op!(Access::write("can_edit"), create::create_automation))
        .routes(op!(Access::read("can_view"), read::read_automation))
        .routes(op!(Access::read("can_view"), occurrences::list_occurrences))
        .routes(op!(Access::write("can_edit"), update::update_automation))
        .routes(op!(Access::write("can_edit"), delete::delete_automation))
        .routes(op!(Access::write("can_run").cost(5), start::start_automation))
}
