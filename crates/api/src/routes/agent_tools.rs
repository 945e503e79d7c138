//! Tools of agents: automations that agents start by name.

mod call;
mod delete;
mod list;
mod publish;
mod read;
mod update;
mod view;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(list::list_agent_tools, cost = 5))
        .routes(op!(read::read_agent_tool))
        .routes(op!(publish::put_agent_tool))
        .routes(op!(update::update_agent_tool))
        .routes(op!(delete::delete_agent_tool))
        .routes(op!(call::start_agent_tool, cost = 5))
}
