//! The languages in which Qala addresses people.

use serde::{Deserialize, Serialize};

/// A language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Locale {
    /// English.
    #[default]
    En,
    /// Russian.
    Ru,
    /// Kazakh.
    Kk,
}

crate::names! {
    Locale {
        En = "en",
        Ru = "ru",
        Kk = "kk",
    }
}
