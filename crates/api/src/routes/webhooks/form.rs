//! Settings of a public form on the wire.

use runs::webhooks::{ChangeForm, FormSettings};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

/// Changes of a public form's settings. Fields that you do not send stay as they are.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FormChange {
    /// Name of the field that people do not see: letters, digits, underscores and hyphens.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 64, default = "_gotcha", pattern = "^[A-Za-z0-9_-]+$")]
    hidden_field: Option<String>,
    /// Origins whose pages may send the form; empty for any.
    #[serde(default)]
    #[schema(max_items = 5, example = json!(["https://www.example.com"]))]
    allowed_sites: Option<Vec<String>>,
    /// HTTPS URL to which a browser is redirected after sending; null for a short page of thanks.
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

/// The settings of a public form.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FormSettings)]
pub(super) struct FormView {
    /// Name of the field that people do not see.
    hidden_field: String,
    /// Origins whose pages may send the form; empty for any.
    #[schema(max_items = 5)]
    allowed_sites: Vec<String>,
    /// URL to which a browser is redirected after sending.
    #[schema(required)]
    redirect: Option<String>,
}

impl From<&FormSettings> for FormView {
    fn from(settings: &FormSettings) -> Self {
        let FormSettings { hidden_field, allowed_sites, redirect } = settings.clone();
        Self { hidden_field, allowed_sites, redirect }
    }
}
