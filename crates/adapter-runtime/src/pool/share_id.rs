//! Those who have a share of the slots of a kind.

use uuid::Uuid;

/// A workspace or a person that has a share of the slots of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ShareId(Uuid);

impl ShareId {
    pub(super) fn of(id: Uuid) -> Self {
        Self(id)
    }
}
