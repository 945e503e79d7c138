//! Manifests: what an app is and what it asks for (specification part B, "ChangePlan").

mod check;
pub mod diff;
mod egress;
mod permissions_hash;
mod shape;

use kernel::{
    authority::Sharing,
    id::{ConnectionId, ProjectId},
};
use serde::{Deserialize, Serialize};

use crate::{Category, InvalidManifest};

pub(crate) use check::{check_name, check_text, is_archetype, is_host};
pub use egress::{EgressMethod, EgressPermission};
pub use kernel::request_headers::CredentialHeader;

/// A declaration of what an app is and what it asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    /// Display name; 2 to 60 characters.
    pub name: String,
    /// Purpose of the app; 4 to 280 characters.
    pub description: String,
    /// Building that the console draws for it, such as `workshop`; any 2 to 32 lower-case letters.
    pub archetype: String,
    /// Subject of the app.
    pub category: Category,
    /// Projects, services, hosts and models that its code may use.
    #[serde(default)]
    pub permissions: Permissions,
    /// Ways to start the app; at most 16.
    #[serde(default)]
    pub triggers: Vec<ManifestTrigger>,
    /// Sharing of a new app; private by default.
    #[serde(default)]
    pub sharing: ManifestSharing,
    /// Time that the app saves.
    #[serde(default)]
    pub roi: Roi,
}

/// Resources that an app's code may use. Anything not listed is unavailable.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Permissions {
    /// Backend projects, as `env.data.NAME`; at most 16.
    #[serde(default)]
    pub data: Vec<DataPermission>,
    /// External services, as `env.connections.NAME`; at most 16.
    #[serde(default)]
    pub connectors: Vec<ConnectorPermission>,
    /// Secrets of the app, as `env.secrets.NAME`; at most 50.
    #[serde(default)]
    pub secrets: Vec<SecretPermission>,
    /// External hosts for `fetch`; at most 32.
    #[serde(default)]
    pub egress: Vec<EgressPermission>,
    /// AI models; none by default.
    #[serde(default)]
    pub ai: Option<AiPermission>,
}

/// Access to a project's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataAccess {
    /// Read rows.
    Read,
    /// Read and write rows.
    Write,
}

/// A backend project that an app may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DataPermission {
    /// Name in the code: a JavaScript identifier of at most 40 ASCII letters, digits and `_`.
    pub name: String,
    /// Project of the same workspace.
    pub project_id: ProjectId,
    /// Access to its rows.
    pub access: DataAccess,
    /// Tables that the app may use, at most 64; all by default.
    #[serde(default)]
    pub tables: Option<Vec<String>>,
}

/// An external service that an app may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectorPermission {
    /// Name in the code: a JavaScript identifier of at most 40 ASCII letters, digits and `_`.
    pub name: String,
    /// Connection of the same workspace.
    pub connection_id: ConnectionId,
    /// Methods that the app may use, of those that the connection allows; all by default.
    #[serde(default)]
    pub methods: Option<Vec<HttpMethod>>,
    /// Paths below the connection's base URL that the app may use, with all below them, at most 16; all by default.
    #[serde(default)]
    pub paths: Option<Vec<String>>,
}

impl ConnectorPermission {
    /// Returns `true` if this permission allows all that the other one allows.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        let is_below = |path: &str, prefix: &str| {
            let prefix = prefix.trim_end_matches('/');
            path.trim_end_matches('/')
                .strip_prefix(prefix)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let methods = self.methods.as_ref().is_none_or(|own| {
            other.methods.as_ref().is_some_and(|wanted| wanted.iter().all(|method| own.contains(method)))
        });
        let paths = self.paths.as_ref().is_none_or(|own| {
            let is_covered = |path: &String| own.iter().any(|prefix| is_below(path, prefix));
            other.paths.as_ref().is_some_and(|wanted| wanted.iter().all(is_covered))
        });
        self.connection_id == other.connection_id && methods && paths
    }
}

/// A secret of the app that its code may use. An admin gives it a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SecretPermission {
    /// Name in the code: a JavaScript identifier of at most 40 ASCII letters, digits and `_`.
    pub name: String,
    /// Uses that the code may make of the secret; all by default.
    #[serde(default)]
    pub uses: Option<Vec<SecretUse>>,
    /// Request for the value as a string, which the code gets if the admin allows that too; false by default.
    #[serde(default)]
    pub clear: bool,
}

impl SecretPermission {
    /// Returns `true` if the code may use the secret so.
    #[must_use]
    pub fn allows(&self, wanted: SecretUse) -> bool {
        self.uses.as_ref().is_none_or(|uses| uses.contains(&wanted))
    }
}

/// A use of a secret. The names of those of a key are usages of the Web Cryptography API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SecretUse {
    /// Signs, as a key.
    Sign,
    /// Verifies signatures, as a key.
    Verify,
    /// Encrypts, as a key.
    Encrypt,
    /// Decrypts, as a key.
    Decrypt,
    /// Derives bits and other keys, as a key.
    DeriveBits,
    /// Is sent in a header to the hosts that the admin names.
    Header,
}

kernel::names! {
    SecretUse {
        Sign = "sign",
        Verify = "verify",
        Encrypt = "encrypt",
        Decrypt = "decrypt",
        DeriveBits = "deriveBits",
        Header = "header",
    }
}

/// A method of a request through a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    #[expect(missing_docs, reason = "the names are those of HTTP")]
    Get,
    #[expect(missing_docs, reason = "the names are those of HTTP")]
    Post,
    #[expect(missing_docs, reason = "the names are those of HTTP")]
    Put,
    #[expect(missing_docs, reason = "the names are those of HTTP")]
    Patch,
    #[expect(missing_docs, reason = "the names are those of HTTP")]
    Delete,
}

kernel::names! {
    HttpMethod {
        Get = "GET",
        Post = "POST",
        Put = "PUT",
        Patch = "PATCH",
        Delete = "DELETE",
    }
}

/// AI models that an app may call, and the budget for them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AiPermission {
    /// Models that prompts may be sent to.
    pub profile: AiProfile,
    /// Budget in US dollars a month; 0 to 10,000.
    pub monthly_budget_usd: f64,
    /// Ids of models; at most 16.
    #[serde(default)]
    pub models: Vec<String>,
}

/// The models that prompts may be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AiProfile {
    /// Shared models are allowed.
    Standard,
    /// Shared models are not allowed.
    Private,
}

/// A way to start an app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum ManifestTrigger {
    /// The app runs on a schedule.
    Schedule {
        /// Cron expression of five fields, as in crontab(5); at most 128 bytes.
        #[serde(default)]
        cron: Option<String>,
        /// IANA time zone, at most 64 bytes; UTC by default.
        #[serde(default)]
        timezone: Option<String>,
    },
    /// A call to an automation's webhook starts it.
    Webhook {},
    /// A public form starts it.
    Form {},
    /// A person or an agent starts it.
    Manual {},
    /// An event of the workspace starts it.
    Event {
        /// Name of the event; at most 128 bytes.
        #[serde(default)]
        event: Option<String>,
    },
}

kernel::object_only!(ManifestTrigger, and written);

/// The sharing of a new app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ManifestSharing {
    /// Sharing that the app begins with.
    pub default: Sharing,
}

impl Default for ManifestSharing {
    fn default() -> Self {
        Self { default: Sharing::Private }
    }
}

/// The time that an app saves.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Roi {
    /// Minutes that a person would need for the work of one run; 0 to 1,440.
    pub manual_minutes_per_run: f64,
}

impl Manifest {
    /// Parses a manifest and checks its bounds.
    ///
    /// # Errors
    /// [`InvalidManifest`] with the path of the first field that does not parse or is out of bounds.
    pub fn parse(json: &serde_json::Value) -> Result<Self, InvalidManifest> {
        let manifest: Self = serde_path_to_error::deserialize(json).map_err(|error| {
            let path = error.path().to_string();
            let path = if path == "." { String::new() } else { path };
            InvalidManifest::new(path, format!("is invalid: {}", error.inner()))
        })?;
        let read =
            serde_json::to_value(&manifest).map_err(|error| InvalidManifest::new("", error.to_string()))?;
        if let Some(path) = shape::array_read_as_object(json, &read) {
            return Err(InvalidManifest::new(path, "is invalid: expected an object, not an array"));
        }
        manifest.check()?;
        Ok(manifest)
    }

    /// Returns a manifest that asks for nothing and can be started by hand, on a schedule or by webhook.
    #[must_use]
    pub fn minimal(name: &str, description: &str, archetype: &str, category: Category) -> Self {
        Self {
            name: name.to_owned(),
            description: description.to_owned(),
            archetype: archetype.to_owned(),
            category,
            permissions: Permissions::default(),
            triggers: vec![
                ManifestTrigger::Manual {},
                ManifestTrigger::Webhook {},
                ManifestTrigger::Schedule { cron: None, timezone: None },
            ],
            sharing: ManifestSharing::default(),
            roi: Roi::default(),
        }
    }

    /// Returns `true` if a public form may start the app.
    #[must_use]
    pub fn declares_form(&self) -> bool {
        self.triggers.iter().any(|trigger| matches!(trigger, ManifestTrigger::Form {}))
    }

    /// Returns the manifest with `host` and `method` added; none when it allows them already, or when the result is out
    /// of bounds.
    #[must_use]
    pub fn with_egress(&self, host: &str, method: EgressMethod) -> Option<Self> {
        let mut manifest = self.clone();
        let egress = &mut manifest.permissions.egress;
        match egress.iter_mut().find(|known| known.host == host) {
            Some(known) => {
                let methods = known.methods.as_mut().filter(|methods| !methods.contains(&method))?;
                methods.push(method);
            }
            None => egress.push(EgressPermission::new(host, Some(vec![method]))),
        }
        manifest.check().ok().map(|()| manifest)
    }

    /// Returns `true` if a webhook may start the app.
    #[must_use]
    pub fn declares_webhook(&self) -> bool {
        self.triggers.iter().any(|trigger| matches!(trigger, ManifestTrigger::Webhook {}))
    }
}
