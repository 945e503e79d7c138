//! What an app asks for (specification part B, "ChangePlan").

mod check;
pub mod diff;

use kernel::{
    authority::Sharing,
    id::{ConnectionId, ProjectId},
};
use serde::{Deserialize, Serialize};

use crate::{AppError, Category};

pub(crate) use check::{check_archetype, check_text};

/// What an app is and what it asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Manifest {
    /// 2 to 60 characters.
    #[cfg_attr(feature = "openapi", schema(min_length = 2, max_length = 60))]
    pub name: String,
    /// 4 to 280 characters.
    #[cfg_attr(feature = "openapi", schema(min_length = 4, max_length = 280))]
    pub description: String,
    /// The building it is drawn as, such as `workshop`; the set is open.
    #[cfg_attr(feature = "openapi", schema(pattern = "^[a-z]{2,32}$", example = "workshop"))]
    pub archetype: String,
    /// What it is about.
    pub category: Category,
    /// What its code may touch.
    #[serde(default)]
    pub permissions: Permissions,
    /// What may start it.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(max_items = 16))]
    pub triggers: Vec<ManifestTrigger>,
    /// How far it is shared at first.
    #[serde(default)]
    pub sharing: ManifestSharing,
    /// What it saves.
    #[serde(default)]
    pub roi: Roi,
}

/// What an app's code may touch. What is not named here is not there.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Permissions {
    /// Backend projects, as `env.data.NAME`; at most 16.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(max_items = 16))]
    pub data: Vec<DataPermission>,
    /// Outside services, as `env.connections.NAME`; at most 16.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(max_items = 16))]
    pub connectors: Vec<ConnectorPermission>,
    /// Outside hosts for `fetch`; at most 32.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(max_items = 32))]
    pub egress: Vec<EgressPermission>,
    /// Models.
    #[serde(default)]
    pub ai: Option<AiPermission>,
}

/// What may be done with a project's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum DataAccess {
    /// Read rows.
    Read,
    /// Read and write rows.
    Write,
}

/// One backend project an app may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DataPermission {
    /// What the code calls it: a JavaScript name of at most 40 characters.
    #[cfg_attr(feature = "openapi", schema(pattern = "^[A-Za-z_][A-Za-z0-9_]{0,39}$", example = "orders"))]
    pub name: String,
    /// The project, of the same workspace.
    pub project_id: ProjectId,
    /// What may be done with its rows.
    pub access: DataAccess,
    /// The only tables it may use; none for all, at most 64.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(max_items = 64))]
    pub tables: Option<Vec<String>>,
}

/// One outside service an app may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConnectorPermission {
    /// What the code calls it: a JavaScript name of at most 40 characters.
    #[cfg_attr(feature = "openapi", schema(pattern = "^[A-Za-z_][A-Za-z0-9_]{0,39}$"))]
    pub name: String,
    /// The connection, of the same workspace.
    pub connection_id: ConnectionId,
}

/// One outside host an app may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct EgressPermission {
    /// A host name, without scheme, port or path.
    #[cfg_attr(
        feature = "openapi",
        schema(
            pattern = "^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)+$",
            max_length = 253,
            example = "api.example.com"
        )
    )]
    pub host: String,
    /// The methods it may use; all when not said.
    #[serde(default)]
    pub methods: Option<Vec<HttpMethod>>,
}

/// The methods a gate knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum HttpMethod {
    #[expect(missing_docs, reason = "HTTP's own names")]
    Get,
    #[expect(missing_docs, reason = "HTTP's own names")]
    Post,
    #[expect(missing_docs, reason = "HTTP's own names")]
    Put,
    #[expect(missing_docs, reason = "HTTP's own names")]
    Patch,
    #[expect(missing_docs, reason = "HTTP's own names")]
    Delete,
}

impl HttpMethod {
    /// The method of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Get, Self::Post, Self::Put, Self::Patch, Self::Delete]
            .into_iter()
            .find(|method| method.as_str() == name)
    }

    /// HTTP's name of the method.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }
}

/// Which models an app may call, and for how much.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AiPermission {
    /// Whether prompts may leave for a shared model.
    pub profile: AiProfile,
    /// US dollars a month, 0 to 10,000.
    pub monthly_budget_usd: f64,
    /// Model ids, at most 16.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(max_items = 16))]
    pub models: Vec<String>,
}

/// Whether prompts may leave for a shared model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum AiProfile {
    /// They may.
    Standard,
    /// They may not.
    Private,
}

/// What may start an app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", tag = "type", rename_all = "lowercase", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum ManifestTrigger {
    /// A schedule.
    Schedule {
        /// Five fields, as crontab(5).
        #[serde(default)]
        #[cfg_attr(feature = "openapi", schema(max_length = 128))]
        cron: Option<String>,
        /// An IANA time zone; UTC when not said.
        #[serde(default)]
        #[cfg_attr(feature = "openapi", schema(max_length = 64))]
        timezone: Option<String>,
    },
    /// A call of the automation's webhook.
    Webhook {},
    /// A public form.
    Form {},
    /// A person or agent.
    Manual {},
    /// Something that happened in the workspace.
    Event {
        /// What happened.
        #[serde(default)]
        #[cfg_attr(feature = "openapi", schema(max_length = 128))]
        event: Option<String>,
    },
}

kernel::object_only!(ManifestTrigger, and written);

/// How far an app is shared at first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ManifestSharing {
    /// How far.
    pub default: Sharing,
}

impl Default for ManifestSharing {
    fn default() -> Self {
        Self { default: Sharing::Private }
    }
}

/// What an app saves.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Roi {
    /// How long a person would take for what one run does, 0 to 1,440.
    pub manual_minutes_per_run: f64,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// Naming the field that is off by its path.
    pub fn parse(json: &serde_json::Value) -> Result<Self, AppError> {
        let manifest: Self = serde_path_to_error::deserialize(json).map_err(|error| {
            let path = error.path().to_string();
            let path = if path == "." { "manifest".to_owned() } else { format!("manifest.{path}") };
            AppError::invalid(path, format!("is not as expected: {}", error.inner()))
        })?;
        manifest.check()?;
        Ok(manifest)
    }

    /// A manifest that asks for nothing and can be started by hand, schedule or webhook.
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

    /// Whether a public form may start the app, as the trigger of an automation.
    #[must_use]
    pub fn declares_form(&self) -> bool {
        self.triggers.iter().any(|trigger| matches!(trigger, ManifestTrigger::Form {}))
    }

    /// The same manifest, with one host more, or one host's methods more; none when it lets that through already, or
    /// names as many hosts as it may.
    #[must_use]
    pub fn with_egress(&self, host: &str, method: HttpMethod) -> Option<Self> {
        let mut manifest = self.clone();
        let egress = &mut manifest.permissions.egress;
        match egress.iter_mut().find(|known| known.host == host) {
            Some(known) => {
                let methods = known.methods.as_mut().filter(|methods| !methods.contains(&method))?;
                methods.push(method);
            }
            None => egress.push(EgressPermission { host: host.to_owned(), methods: Some(vec![method]) }),
        }
        manifest.check().ok().map(|()| manifest)
    }

    /// Whether a webhook may start the app.
    #[must_use]
    pub fn declares_webhook(&self) -> bool {
        self.triggers.iter().any(|trigger| matches!(trigger, ManifestTrigger::Webhook {}))
    }
}
