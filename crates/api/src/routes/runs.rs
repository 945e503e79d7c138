//! Runs.

mod approvals;
mod ask;
mod change;
mod decide;
mod explain;
mod list;
mod queue_health;
mod read;
pub(crate) mod replay;
mod trace;
pub(crate) mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::{auth::access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::read("can_view"), read::read_run))
        .routes(op!(Access::write("can_edit").cost(5), replay::replay_run))
        .routes(op!(Access::read("can_view").cost(3), explain::explain_run))
        .routes(op!(Access::read("can_view").cost(3), ask::read_run_answer, ask::ask_run))
        .routes(op!(Access::read("can_view").cost(2), trace::read_run_trace))
        .routes(op!(Access::console("can_edit").cost(5), change::plan_run_change))
        .routes(op!(Access::read("can_view"), approvals::list_run_approvals))
        .routes(op!(Access::console("can_edit"), decide::decide_run_approval))
        .routes(op!(Access::read("member"), list::list_runs))
        .routes(op!(Access::read("member"), queue_health::read_queue_health))
}
