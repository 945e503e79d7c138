//! Events of a workspace for streams and for agents that poll.
//!
//! A follower subscribes before it reads, so that it misses no event in between, and also reads from time to time
//! without a notification. Its access is checked again before each response or message.

mod agent_feed;
mod stream_permit;
mod stream_quota;

pub use agent_feed::{AgentAlert, AgentEvent, AgentEventKind, AgentFeed};
pub use stream_permit::StreamPermit;
pub use stream_quota::StreamQuota;

use std::time::Duration;

/// Time a follower waits after a notification before it reads, so that one read covers several events.
pub const DEBOUNCE: Duration = Duration::from_millis(50);
