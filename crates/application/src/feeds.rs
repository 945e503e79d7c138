//! Events of a workspace for those who follow it: what the streams and the agents' feeds share.
//!
//! Whoever follows subscribes before it reads, so that no event falls between the two, and reads from time to time
//! without being woken. Its rights are checked again each time it is told something.

mod agent_feed;
mod stream_quota;

pub use agent_feed::{AgentAlert, AgentEvent, AgentEventKind, AgentFeed};
pub use stream_quota::{StreamPermit, StreamQuota};

use std::time::Duration;

/// Time that several events get to come together before a follower reads.
pub const DEBOUNCE: Duration = Duration::from_millis(50);
