//! The catalogue of connectors: what is known of each service, so that a person only gives the secret.
//!
//! Each connector is a file of `catalog/`. Its URL and `auth` may have placeholders such as `{shop}`, which take the
//! validated value of the field with that name.

mod files;
mod forms;

use std::{collections::BTreeMap, sync::LazyLock};

use kernel::Translated;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::{
    auth::{Auth, AuthInput, parse_secret_url},
    connection::{BaseUrl, ExtraHeader, HttpConnection},
    gates::Method,
    invalid_input::{Field, InvalidInput, Reason},
};

pub use forms::FieldForm;

/// Most fields of an entry.
pub const MAX_FIELDS: usize = 8;
/// Most steps of a guide.
pub const MAX_GUIDE_STEPS: usize = 5;

/// The words of `auth` in the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are those of the wire")]
pub enum CatalogueAuth {
    ApiKey,
    BotToken,
    Oauth2,
    ServiceAccount,
    Basic,
    WebhookUrl,
    None,
}

kernel::names! {
    CatalogueAuth {
        ApiKey = "api_key",
        BotToken = "bot_token",
        Oauth2 = "oauth2",
        ServiceAccount = "service_account",
        Basic = "basic",
        WebhookUrl = "webhook_url",
        None = "none",
    }
}

/// The groups of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names are those of the wire")]
pub enum CatalogueGroup {
    Messaging,
    Email,
    Crm,
    Commerce,
    Data,
    Developer,
}

kernel::names! {
    CatalogueGroup {
        Messaging = "messaging",
        Email = "email",
        Crm = "crm",
        Commerce = "commerce",
        Data = "data",
        Developer = "developer",
    }
}

/// The categories of the catalogue, which are those of apps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CatalogueCategory {
    /// Whatever a person describes.
    Interface,
    /// Storing data.
    Data,
    /// Sending messages to people.
    Messaging,
    /// Payments and invoices.
    Money,
    /// AI models.
    Ai,
    /// Calendars.
    Time,
    /// Customers and colleagues.
    People,
    /// Marketing and sales.
    Growth,
}

kernel::names! {
    CatalogueCategory {
        Interface = "interface",
        Data = "data",
        Messaging = "messaging",
        Money = "money",
        Ai = "ai",
        Time = "time",
        People = "people",
        Growth = "growth",
    }
}

/// The regions of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CatalogueRegion {
    /// Services of the world.
    Global,
    /// Services of Kazakhstan.
    Kz,
}

kernel::names! {
    CatalogueRegion {
        Global = "global",
        Kz = "kz",
    }
}

/// How far a connector is supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CatalogueStatus {
    /// Supported.
    Available,
    /// Supported, with few users so far.
    Beta,
    /// Not tried against the service itself.
    Preview,
    /// Available once the operator has registered an OAuth app.
    NeedsOauthApp,
    /// Not supported yet.
    Planned,
}

kernel::names! {
    CatalogueStatus {
        Available = "available",
        Beta = "beta",
        Preview = "preview",
        NeedsOauthApp = "needs-oauth-app",
        Planned = "planned",
    }
}

/// How a connection of an entry is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TestKind {
    /// A request to the test path.
    Gate,
    /// A request to the token endpoint.
    Token,
    /// Only the form of the secret, since no request is harmless.
    Format,
}

/// An entry of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueEntry {
    /// Id; the name of the file.
    pub id: String,
    /// Connector id; none for a planned connector.
    pub connector_id: Option<String>,
    /// Name of the service.
    pub name: String,
    /// Letters in place of a logo; 1 to 3.
    pub monogram: String,
    /// Group.
    pub group: CatalogueGroup,
    /// Category.
    pub category: CatalogueCategory,
    /// Kind of service: one word, by which people search.
    pub service: String,
    /// Kind of secret.
    pub auth: CatalogueAuth,
    /// One sentence about the connector.
    pub summary: Translated,
    /// Documentation of the service.
    pub docs_url: String,
    /// Regions.
    pub regions: Vec<CatalogueRegion>,
    /// Status.
    pub status: CatalogueStatus,
    /// Address and proof; none for `http` and planned connectors.
    pub http: Option<EntryHttp>,
    /// OAuth endpoints; only for [`Auth::AuthorizationCode`].
    pub oauth: Option<EntryOauth>,
    /// Fields that a person fills beside the secret; at most [`MAX_FIELDS`].
    #[serde(default)]
    pub fields: Vec<CatalogueField>,
    /// Actions of apps with the service.
    #[serde(default)]
    pub actions: Vec<Capability>,
    /// Events that the service can report.
    #[serde(default)]
    pub triggers: Vec<Capability>,
    /// How a person gets the secret; 1 to [`MAX_GUIDE_STEPS`] steps.
    pub guide: Translated<Vec<String>>,
}

/// The address of an entry, with placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryHttp {
    /// Base URL.
    pub base_url: String,
    /// How requests prove themselves.
    pub auth: AuthInput,
    /// Methods.
    pub methods: Vec<Method>,
    /// How a connection is tested.
    pub check: TestKind,
    /// Path of a test.
    pub test_path: Option<String>,
    /// Whether the service reports errors with status 200 and `{"ok": false, "error": …}`.
    #[serde(default)]
    pub body_errors: bool,
    /// Headers of every request.
    #[serde(default)]
    pub headers: Vec<ExtraHeader>,
}

/// The OAuth endpoints of an entry.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EntryOauth {
    /// Authorization endpoint.
    pub authorize_url: String,
    /// Token endpoint.
    pub token_url: String,
    /// Revocation endpoint (RFC 7009).
    #[serde(default)]
    pub revocation_url: Option<String>,
    /// Scopes to ask for.
    pub scopes: Vec<String>,
    /// Parameters of the service's own in the authorization request.
    #[serde(default)]
    pub parameters: BTreeMap<String, String>,
}

/// A field that a person fills.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CatalogueField {
    /// Name, as in placeholders.
    pub name: String,
    /// Label.
    pub label: Translated,
    /// Form of its values.
    pub form: FieldForm,
    /// Example.
    pub example: String,
    /// The values of a [`FieldForm::Choice`].
    #[serde(default)]
    pub options: Vec<String>,
    /// Value if none is given; a field without a default is required.
    pub default: Option<String>,
}

/// An action or a trigger.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capability {
    /// Id.
    pub id: String,
    /// Name.
    pub name: Translated,
}

static CATALOGUE: LazyLock<Vec<CatalogueEntry>> = LazyLock::new(|| {
    // A test parses every file, so that none is left out here.
    files::FILES.iter().filter_map(|(_, text)| toml::from_str(text).ok()).collect()
});

/// Returns every entry, by id.
#[must_use]
pub fn catalogue() -> &'static [CatalogueEntry] {
    &CATALOGUE
}

/// Returns the entry of a connector, by which a connection can be made.
#[must_use]
pub fn find_connector(connector: &str) -> Option<&'static CatalogueEntry> {
    catalogue().iter().find(|entry| entry.connector_id.as_deref() == Some(connector))
}

impl CatalogueEntry {
    /// Checks the values of the entry's fields, and fills in defaults.
    ///
    /// # Errors
    /// [`InvalidInput`] that names the first value that no field declares, or that has not the form of its field.
    pub fn check_values(
        &self,
        values: &BTreeMap<String, String>,
    ) -> Result<BTreeMap<String, String>, InvalidInput> {
        if let Some(unknown) =
            values.keys().find(|name| !self.fields.iter().any(|field| field.name == **name))
        {
            let shown: String = unknown.chars().filter(|c| !c.is_control()).take(64).collect();
            return Err(InvalidInput::new(Field::Value(shown), Reason::UnknownField));
        }
        let check = |field: &CatalogueField| {
            let refuse = |reason| InvalidInput::new(Field::Value(field.name.clone()), reason);
            let value =
                values.get(&field.name).or(field.default.as_ref()).ok_or_else(|| refuse(Reason::Required))?;
            let value = field.form.check(value, &field.options).map_err(refuse)?;
            Ok((field.name.clone(), value))
        };
        self.fields.iter().map(check).collect()
    }

    /// Makes the address of a connection from checked values. A secret URL names its host itself; without it, the
    /// address of the connection so far stays.
    ///
    /// # Errors
    /// [`InvalidInput`] when the values or the secret do not fit the entry.
    pub fn http_connection(
        &self,
        values: &BTreeMap<String, String>,
        secret: Option<&SecretString>,
        current: Option<&HttpConnection>,
    ) -> Result<HttpConnection, InvalidInput> {
        let entry = self.http.as_ref().ok_or_else(|| InvalidInput::new(Field::Auth, Reason::ServerOnly))?;
        let auth = Auth::parse(fill_auth(&entry.auth, values))?;
        let base_url = match (&auth, secret, current) {
            (Auth::Url, Some(secret), _) => {
                let (host, url) = parse_secret_url(secret)?;
                BaseUrl::hidden(host, url.port_or_known_default().unwrap_or(443))
            }
            (Auth::Url, None, Some(current)) => current.base_url.clone(),
            (Auth::Url, None, None) => return Err(InvalidInput::new(Field::Secret, Reason::Required)),
            _ => {
                let base_url = BaseUrl::parse(&fill(&entry.base_url, values))?;
                base_url.check_placeholders(&auth, true)?;
                base_url
            }
        };
        if let Some(secret) = secret {
            auth.check_secret(secret)?;
        }
        Ok(HttpConnection {
            host: base_url.host().clone(),
            base_url,
            auth,
            methods: entry.methods.clone(),
            path_prefix: "/".to_owned(),
            headers: entry.headers.clone(),
            test_path: entry.test_path.as_deref().map(|path| fill(path, values)),
            testable: entry.check != TestKind::Format,
            preset: Some(self.id.clone()),
        })
    }
}

/// Replaces each placeholder by its value. Values have no braces, so that none becomes another placeholder.
fn fill(template: &str, values: &BTreeMap<String, String>) -> String {
    values.iter().fold(template.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

fn fill_auth(auth: &AuthInput, values: &BTreeMap<String, String>) -> AuthInput {
    let mut filled = auth.clone();
    match &mut filled {
        AuthInput::Basic { username } => *username = fill(username, values),
        AuthInput::ClientCredentials { token_url, client_id, .. } => {
            *token_url = fill(token_url, values);
            *client_id = fill(client_id, values);
        }
        AuthInput::ServiceAccount { token_url, .. } => *token_url = fill(token_url, values),
        _ => {}
    }
    filled
}

#[cfg(test)]
mod tests;
