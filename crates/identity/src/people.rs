//! Online status of people, and the end of their tokens when they leave a workspace.

mod revoke_tokens;

use chrono::TimeDelta;

pub use crate::ports::{PeopleRead, PeopleTx};
pub use revoke_tokens::revoke_tokens_of;

/// Time after the last request of a session during which its person counts as online.
pub const ONLINE_WINDOW: TimeDelta = TimeDelta::minutes(5);
