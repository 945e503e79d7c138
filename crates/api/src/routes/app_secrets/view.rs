//! Secrets of apps on the wire.

use application::{Problem, Tx};
use apps::manifest::{SecretPermission, SecretUse};
use chrono::{DateTime, Utc};
use connections::app_secrets::AppSecretView;
use kernel::authority::AppAccess;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    http::{
        conditional::{Representation, TaggedItem},
        schemas,
    },
    state::Api,
};

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
    /// Number of values that it was given since it exists; 0 if there is none.
    version: u32,
    /// Entity tag. Send it in `If-Match` with a change, to change only what you have seen.
    #[schema(pattern = "^\"[0-9a-f]{32}\"$")]
    etag: String,
}

impl Representation for AppSecretItem {
    const COMPUTED: &'static [&'static str] = &["declared", "etag", "setByName"];
}

impl TaggedItem for AppSecretItem {
    fn etag_mut(&mut self) -> &mut String {
        &mut self.etag
    }
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
            version: secret.version,
            etag: String::new(),
        }
    }

    /// A secret that has no value; the manifest may name it.
    pub(super) fn missing(name: String, declared: Option<&SecretPermission>) -> Self {
        Self {
            name,
            set_at: None,
            set_by_name: None,
            hosts: Vec::new(),
            clear: false,
            declared: declared.map(DeclaredSecret::from),
            version: 0,
            etag: String::new(),
        }
    }

    /// Returns a secret of an app, whose secrets are locked until the transaction ends; `None` if it has no value.
    ///
    /// # Errors
    /// 404 `app_not_found` if the app was deleted; a [`Problem`] if the store fails.
    pub(super) async fn locked(
        tx: &mut dyn Tx,
        access: &AppAccess,
        name: &str,
    ) -> Result<Option<Self>, Problem> {
        let stored = tx.app_secrets_for_update(access.member().workspace(), access.app()).await?;
        let stored = stored.ok_or_else(|| Problem::not_found("app"))?;
        let found = stored.into_iter().find(|secret| secret.name.as_str() == name);
        Ok(found.map(|secret| Self::of(AppSecretView { secret, set_by_name: None }, &[])))
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
