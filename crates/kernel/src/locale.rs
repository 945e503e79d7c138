//! The languages in which Qala addresses people.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::Problem;

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

impl Locale {
    /// Returns the ISO 639-1 code, as on the wire and in stores.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Ru => "ru",
            Self::Kk => "kk",
        }
    }
}

impl fmt::Display for Locale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Locale {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        [Self::En, Self::Ru, Self::Kk]
            .into_iter()
            .find(|locale| locale.as_str() == text)
            .ok_or_else(|| Problem::invalid_field("locale", "must be en, ru or kk"))
    }
}
