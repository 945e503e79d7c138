//! What a public form asks, as it stands on the wire.

use runs::webhooks::{ChangeForm, FormSettings};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

/// What to change about a public form; what is not said stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FormChange {
    /// The field that people do not see: letters, digits, underscores and hyphens.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 64, default = "_gotcha", pattern = "^[A-Za-z0-9_-]+$")]
    hidden_field: Option<String>,
    /// The origins whose pages may send it; any when empty.
    #[serde(default)]
    #[schema(max_items = 5, example = json!(["https://www.example.com"]))]
    allowed_sites: Option<Vec<String>>,
    /// An https URL to which a browser goes next; null for a short page of thanks.
    #[serde(default, deserialize_with = "deserialize_some")]
    #[schema(value_type = Option<String>, max_length = 2000, example = "https://www.example.com/thanks")]
    redirect: Option<Option<String>>,
}

/// Distinguishes null from an absent field.
fn deserialize_some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl From<FormChange> for ChangeForm {
    fn from(change: FormChange) -> Self {
        let FormChange { hidden_field, allowed_sites, redirect } = change;
        Self { hidden_field, allowed_sites, redirect }
    }
}

/// What a public form asks.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FormSettings)]
pub(super) struct FormView {
    /// The field that people do not see.
    hidden_field: String,
    /// The origins whose pages may send it; any when empty.
    #[schema(max_items = 5)]
    allowed_sites: Vec<String>,
    /// Where a browser goes next.
    #[schema(required)]
    redirect: Option<String>,
}

impl From<&FormSettings> for FormView {
    fn from(settings: &FormSettings) -> Self {
        let FormSettings { hidden_field, allowed_sites, redirect } = settings.clone();
        Self { hidden_field, allowed_sites, redirect }
    }
}
