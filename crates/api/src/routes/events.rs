//! Events of a workspace: a stream for the console, a feed for agents.

mod agents;
mod stream;

use utoipa_axum::router::OpenApiRouter;

use crate::state::Api;

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new().routes(op!(stream::follow_events)).routes(op!(agents::list_agent_events))
}
