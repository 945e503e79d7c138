//! Runs.

mod approvals;
mod ask;
mod cancel;
mod decide;
mod explain;
mod histogram;
mod list;
mod queue_health;
mod read;
pub(crate) mod replay;
mod suggested_change;
mod trace;
pub(crate) mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(read::read_run))
        .routes(op!(cancel::cancel_run))
        .routes(op!(replay::replay_run, cost = 5))
        .routes(op!(explain::explain_run, cost = 3))
        .routes(op!(ask::read_run_answer, cost = 3))
        .routes(op!(ask::ask_run, cost = 3))
        .routes(op!(trace::read_run_trace, cost = 2))
        .routes(op!(suggested_change::plan_run_change, cost = 5))
        .routes(op!(approvals::list_run_approvals))
        .routes(op!(decide::decide_run_approval))
        .routes(op!(list::list_runs))
        .routes(op!(histogram::count_runs, cost = 3))
        .routes(op!(queue_health::read_queue_health))
}
