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

/// A text, or several, in each language.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Translated<T = String> {
    /// English.
    pub en: T,
    /// Russian.
    pub ru: T,
    /// Kazakh.
    pub kk: T,
}

impl<T> Translated<T> {
    /// Returns what it is in a language.
    #[must_use]
    pub const fn get(&self, locale: Locale) -> &T {
        match locale {
            Locale::En => &self.en,
            Locale::Ru => &self.ru,
            Locale::Kk => &self.kk,
        }
    }
}
