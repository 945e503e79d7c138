//! Types of `apps`.

#![expect(dead_code, reason = "described, never created")]

mod new_manifest;

use kernel::{
    authority::Sharing,
    id::{ConnectionId, ProjectId},
};
use serde::Deserialize;
use utoipa::ToSchema;

use super::enumeration::enumerations;
pub(crate) use new_manifest::NewManifest;

enumerations! {
    /// The models that prompts may be sent to.
    AiProfile: apps::manifest::AiProfile;
    /// The state of an app.
    AppStatus: apps::AppStatus;
    /// The subject of an app, for people who look for one.
    Category: apps::Category;
    /// The builder of a version or of a plan: a model, or rules.
    ChangeBuilder: apps::versions::ChangeBuilder;
    /// The state of a planned change.
    ChangeState: apps::changes::ChangeState;
    /// Access to a project's rows.
    DataAccess: apps::manifest::DataAccess;
    /// A header with credentials that code may set itself.
    CredentialHeader: apps::manifest::CredentialHeader;
    /// A method of a request to an external host.
    EgressMethod: apps::manifest::EgressMethod;
    /// A method of a request through a connection.
    HttpMethod: apps::manifest::HttpMethod;
    /// A use of a secret. The names of those of a key are usages of the Web Cryptography API.
    SecretUse: apps::manifest::SecretUse;
    /// Form of a template's setting.
    SettingKind: apps::templates::SettingKind;
    /// Trigger of a template's automation.
    TemplateTrigger: apps::templates::TemplateTrigger;
    /// The verdict of a trust score.
    TrustBand: apps::trust::TrustBand;
    /// Rule that takes points off a trust score.
    TrustRule: apps::trust::TrustRule;
    /// The origin of a version.
    VersionKind: apps::VersionKind;
}

/// A declaration of what an app is and what it asks for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Manifest {
    /// Display name; 2 to 60 characters.
    #[schema(min_length = 2, max_length = 60)]
    name: String,
    /// Purpose of the app; 4 to 280 characters.
    #[schema(min_length = 4, max_length = 280)]
    description: String,
    /// Building that the console draws for it, such as `workshop`; any 2 to 32 lower-case letters.
    #[schema(pattern = "^[a-z]{2,32}$", example = "workshop")]
    archetype: String,
    /// Subject of the app.
    category: Category,
    /// Projects, services, hosts and models that its code may use.
    #[serde(default)]
    permissions: Permissions,
    /// Ways to start the app; at most 16.
    #[serde(default)]
    #[schema(max_items = 16)]
    triggers: Vec<ManifestTrigger>,
    /// Sharing of a new app; private by default.
    #[serde(default)]
    sharing: ManifestSharing,
    /// Time that the app saves.
    #[serde(default)]
    roi: Roi,
}

/// Resources that an app's code may use. Anything not listed is unavailable.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Permissions {
    /// Backend projects, as `env.data.NAME`; at most 16.
    #[serde(default)]
    #[schema(max_items = 16)]
    data: Vec<DataPermission>,
    /// External services, as `env.connections.NAME`; at most 16.
    #[serde(default)]
    #[schema(max_items = 16)]
    connectors: Vec<ConnectorPermission>,
    /// Secrets of the app, as `env.secrets.NAME`; at most 50.
    #[serde(default)]
    #[schema(max_items = 50)]
    secrets: Vec<SecretPermission>,
    /// External hosts for `fetch`; at most 32.
    #[serde(default)]
    #[schema(max_items = 32)]
    egress: Vec<EgressPermission>,
    /// AI models; none by default.
    #[serde(default)]
    ai: Option<AiPermission>,
}

/// A backend project that an app may use.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DataPermission {
    /// Name in the code: a JavaScript identifier of at most 40 ASCII letters, digits and `_`.
    #[schema(pattern = "^[A-Za-z_][A-Za-z0-9_]{0,39}$", example = "orders")]
    name: String,
    /// Project of the same workspace.
    project_id: ProjectId,
    /// Access to its rows.
    access: DataAccess,
    /// Tables that the app may use, at most 64; all by default.
    #[serde(default)]
    #[schema(max_items = 64)]
    tables: Option<Vec<String>>,
}

/// An external service that an app may use.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ConnectorPermission {
    /// Name in the code: a JavaScript identifier of at most 40 ASCII letters, digits and `_`.
    #[schema(pattern = "^[A-Za-z_][A-Za-z0-9_]{0,39}$")]
    name: String,
    /// Connection of the same workspace.
    connection_id: ConnectionId,
    /// Methods that the app may use, of those that the connection allows; all by default.
    #[serde(default)]
    #[schema(min_items = 1)]
    methods: Option<Vec<HttpMethod>>,
    /// Paths below the connection's base URL that the app may use, with all below them; all by default.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 16)]
    paths: Option<Vec<String>>,
}

/// A secret of the app that its code may use. An admin gives it a value.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SecretPermission {
    /// Name in the code: a JavaScript identifier of at most 40 ASCII letters, digits and `_`.
    #[schema(pattern = "^[A-Za-z_][A-Za-z0-9_]{0,39}$", example = "SIGNING_KEY")]
    name: String,
    /// Uses that the code may make of the secret; all by default.
    #[serde(default)]
    #[schema(min_items = 1)]
    uses: Option<Vec<SecretUse>>,
    /// Request for the value as a string, which the code gets if the admin allows that too; false by default.
    #[serde(default)]
    clear: bool,
}

/// An external host that an app may call.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EgressPermission {
    /// Lower-case host name without scheme, port or path.
    #[schema(
        pattern = "^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)+$",
        max_length = 253,
        example = "api.example.com"
    )]
    host: String,
    /// Methods that the app may use; all by default.
    #[serde(default)]
    methods: Option<Vec<EgressMethod>>,
    /// Headers with credentials that the code may set itself, each once; none by default. An admin has to agree to them.
    #[serde(default)]
    #[schema(max_items = 2)]
    headers: Vec<CredentialHeader>,
}

/// AI models that an app may call, and the budget for them.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AiPermission {
    /// Models that prompts may be sent to.
    profile: AiProfile,
    /// Budget in US dollars a month; 0 to 10,000.
    monthly_budget_usd: f64,
    /// Ids of models; at most 16.
    #[serde(default)]
    #[schema(max_items = 16)]
    models: Vec<String>,
}

/// A way to start an app.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum ManifestTrigger {
    /// The app runs on a schedule.
    Schedule {
        /// Cron expression of five fields, as in crontab(5); at most 128 bytes.
        #[serde(default)]
        #[schema(max_length = 128)]
        cron: Option<String>,
        /// IANA time zone, at most 64 bytes; UTC by default.
        #[serde(default)]
        #[schema(max_length = 64)]
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
        #[schema(max_length = 128)]
        event: Option<String>,
    },
}

/// The sharing of a new app.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ManifestSharing {
    /// Sharing that the app begins with.
    default: Sharing,
}

impl Default for ManifestSharing {
    fn default() -> Self {
        Self { default: Sharing::Private }
    }
}

/// The time that an app saves.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Roi {
    /// Minutes that a person would need for the work of one run; 0 to 1,440.
    manual_minutes_per_run: f64,
}
