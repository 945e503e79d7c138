//! Secrets of apps on the wire.

use application::Problem;
use apps::manifest::{SecretPermission, SecretUse};
use chrono::{DateTime, Utc};
use connections::app_secrets::AppSecretView;
use kernel::authority::AppAccess;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{http::schemas, state::Api};

/// A secret of an app: one that has a value, or one that the current version names.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AppSecret)]
pub(crate) struct AppSecretItem {
    /// Name in the code, as in `env.secrets.NAME`.
    #[schema(pattern = "^[A-Za-z_][A-Za-z0-9_]{0,39}$", example = "SIGNING_KEY")]
    name: String,
    /// Time at which the value was given; null if there is none.
    #[schema(required)]
    #[serde(serialize_with = "kernel::rfc3339::millis_or_null")]
    set_at: Option<DateTime<Utc>>,
    /// Name of the person who gave the value.
    #[schema(required)]
    set_by_name: Option<String>,
    /// Hosts that it may be sent to in a header.
    #[schema(max_items = 16)]
    hosts: Vec<String>,
    /// Permission of the admin for the code to have the value.
    clear: bool,
    /// Entry of the current version's manifest; null if it does not name the secret.
    #[schema(required)]
    declared: Option<DeclaredSecret>,
}

/// A secret as a manifest names it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeclaredSecret {
    /// Uses that the code may make of it; null for all.
    #[schema(required, value_type = Option<Vec<schemas::apps::SecretUse>>)]
    uses: Option<Vec<SecretUse>>,
    /// Request of the code for the value.
    clear: bool,
}

impl AppSecretItem {
    pub(super) fn of(view: AppSecretView, declared: &[SecretPermission]) -> Self {
        let AppSecretView { secret, set_by_name } = view;
        let name = secret.name.to_string();
        Self {
            declared: declared.iter().find(|known| known.name == name).map(DeclaredSecret::from),
            name,
            set_at: Some(secret.set_at),
            set_by_name,
            hosts: secret.hosts.iter().map(ToString::to_string).collect(),
            clear: secret.clear,
        }
    }

    /// A secret that the manifest names and that has no value.
    pub(super) fn missing(declared: &SecretPermission) -> Self {
        Self {
            name: declared.name.clone(),
            set_at: None,
            set_by_name: None,
            hosts: Vec::new(),
            clear: false,
            declared: Some(declared.into()),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl From<&SecretPermission> for DeclaredSecret {
    fn from(permission: &SecretPermission) -> Self {
        Self { uses: permission.uses.clone(), clear: permission.clear }
    }
}

/// Returns the secrets that the manifest of the app's current version names.
pub(super) async fn declared_secrets(
    api: &Api,
    access: &AppAccess,
) -> Result<Vec<SecretPermission>, Problem> {
    let workspace = access.member().workspace();
    let app = api.store().app(workspace, access.app()).await?.ok_or_else(|| Problem::not_found("app"))?;
    let Some(current) = app.current_version else { return Ok(Vec::new()) };
    let version = api.store().version(workspace, app.id, current).await?;
    Ok(version.map_or_else(Vec::new, |(_, content)| content.manifest.permissions.secrets))
}
