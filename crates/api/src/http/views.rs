//! Types on the wire that several groups of operations share.

mod session;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub(crate) use session::{JoinedView, SessionView, UserView};

/// The operation succeeded.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Done)]
pub(crate) struct Ack {
    /// Always `true`.
    #[schema(example = true)]
    ok: bool,
}

impl Ack {
    pub(crate) const OK: Self = Self { ok: true };
}

/// An empty object.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Nothing)]
pub(crate) struct EmptyBody {}
