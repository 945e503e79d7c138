//! Rights on one app.

use serde::{Deserialize, Serialize};

/// A right on an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum AppRightName {
    /// View the app and its runs.
    CanView,
    /// Run the app.
    CanRun,
    /// Change the app.
    CanEdit,
    /// Change who has access to the app.
    CanShare,
}

crate::names! {
    AppRightName {
        CanView = "can_view",
        CanRun = "can_run",
        CanEdit = "can_edit",
        CanShare = "can_share",
    }
}

/// A set of rights on an app. Whoever has any right can view the app.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AppRights(u8);

impl AppRights {
    /// Every right.
    pub const ALL: Self = Self(0b1111);
    /// No right.
    pub const NONE: Self = Self(0);

    /// Reads the set from the bits that stores keep; ignores unknown bits.
    #[must_use]
    pub fn from_bits(bits: u8) -> Self {
        match bits & Self::ALL.0 {
            0 => Self::NONE,
            some => Self(some | 1 << AppRightName::CanView as u8),
        }
    }

    /// Returns the set as bits, as stores keep it.
    #[must_use]
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Returns true if the set holds `right`.
    #[must_use]
    pub fn contains(self, right: AppRightName) -> bool {
        self.0 & (1 << right as u8) != 0
    }

    /// Returns the union of both sets.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the rights in the order of [`AppRightName`].
    #[must_use]
    pub fn to_vec(self) -> Vec<AppRightName> {
        AppRightName::ALL.into_iter().filter(|right| self.contains(*right)).collect()
    }
}

impl FromIterator<AppRightName> for AppRights {
    fn from_iter<I: IntoIterator<Item = AppRightName>>(rights: I) -> Self {
        Self::from_bits(rights.into_iter().fold(0, |bits, right| bits | 1 << right as u8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_right_implies_the_right_to_view() {
        use AppRightName::{CanEdit, CanRun, CanShare, CanView};
        for right in [CanRun, CanEdit, CanShare] {
            let rights: AppRights = [right].into_iter().collect();
            assert_eq!(rights.to_vec(), [CanView, right]);
            assert_eq!(AppRights::from_bits(1 << right as u8), rights, "as stores may have kept it");
        }
        assert_eq!([].into_iter().collect::<AppRights>(), AppRights::NONE);
        assert_eq!(AppRights::from_bits(0b1111_0000), AppRights::NONE, "unknown bits are no right");
    }
}
