//! Following a workspace: what the streams, the agents' feed and the agent server's tool share.
//!
//! Whoever follows takes the bell before it looks, so that nothing happens unheard between the two, and looks now and
//! then without being rung. Its rights are asked for again each time it is told something.

mod agent_feed;
mod stream_quota;
mod subscription;

pub use agent_feed::{AgentAlert, AgentEvent, AgentEventKind, AgentFeed};
pub(crate) use stream_quota::StreamQuota;
pub(crate) use subscription::{EventSource, SseBuffer, SseSubscription};

use std::sync::Arc;

use identity::oauth::resource::mcp_resource_url;
use kernel::{Caller, Context, Problem};

use crate::state::Api;

impl Api {
    /// The request's context at this moment, if its session or token is still good.
    ///
    /// # Errors
    /// 401 when it is not, and what the store says.
    async fn reauthenticate(&self, ctx: &Context) -> Result<Context, Problem> {
        let now = self.services.clock.now();
        let caller = match &ctx.caller {
            Caller::Session(caller) => {
                let session = self.store().session(caller.session).await?;
                session.and_then(|session| session.caller(now)).map(Caller::Session)
            }
            Caller::Token(caller) if caller.grant.is_some() => {
                let found = self.store().access_token_of(caller.workspace, caller.token).await?;
                let audience = mcp_resource_url(&self.config.public_url);
                found.and_then(|(token, grant)| token.caller(&grant, &audience, now)).map(Caller::Token)
            }
            Caller::Token(caller) => {
                let token = self.store().token(caller.token).await?;
                token.and_then(|token| token.caller(now)).map(Caller::Token)
            }
            Caller::Anonymous | Caller::ProjectKey(_) | Caller::System(_) => None,
        };
        let caller = caller.ok_or_else(Problem::unauthorized)?;
        Ok(Context::new(caller, now, ctx.request_id, ctx.client_ip, Arc::clone(&self.services.random)))
    }

    /// Ends every stream and everybody's waiting: the server stops.
    pub fn close_streams(&self) {
        self.stream_quota.close();
    }
}
