//! What happens in a workspace: a stream for the console, a feed for agents.

mod agents;
mod stream;

use utoipa_axum::router::OpenApiRouter;

use crate::{auth::access::Access, state::Api};

pub(crate) fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(op!(Access::console("member"), stream::follow_events))
        .routes(op!(Access::read("member"), agents::list_agent_events))
}
