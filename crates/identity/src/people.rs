//! Many people at once, and what ends when somebody is no member any more.

mod revoke_tokens;

use chrono::TimeDelta;

pub use crate::ports::{PeopleRead, PeopleTx};
pub use revoke_tokens::revoke_tokens_of;

/// For how long after a sign of life a person counts as online.
pub const ONLINE_WINDOW: TimeDelta = TimeDelta::minutes(5);
