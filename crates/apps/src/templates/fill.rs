//! Filling in a template: what a person chose becomes a manifest, files and automations.

use std::collections::{BTreeMap, BTreeSet};

use kernel::{
    Locale,
    authority::Sharing,
    id::{ConnectionId, ProjectId},
};
use serde_json::{Value, json};

use super::{PROJECT_BINDING, SETTINGS_FILE, SettingKind, Template, TemplateSetting, TemplateTrigger};
use crate::{
    Manifest,
    manifest::{
        ConnectorPermission, DataAccess, DataPermission, EgressMethod, EgressPermission, ManifestSharing,
        ManifestTrigger, Permissions, Roi, SecretPermission,
    },
};

const MAX_TEXT: usize = 200;
const MAX_EMAIL: usize = 254;
const MAX_URL: usize = 2_000;
const MAX_URLS: usize = 10;

/// What a person chose for a template.
#[derive(Debug, Clone, Copy)]
pub struct FillTemplate<'a> {
    /// Name of the app.
    pub name: &'a str,
    /// Purpose of the app; the template's by default.
    pub description: Option<&'a str>,
    /// Language of names that the template gives.
    pub locale: Locale,
    /// IANA time zone of schedules.
    pub timezone: &'a str,
    /// Project in which it keeps rows.
    pub project: Option<ProjectId>,
    /// Connections by their names in the code.
    pub connections: &'a BTreeMap<String, ChosenConnection>,
    /// Values of settings by name.
    pub settings: &'a BTreeMap<String, Value>,
}

/// A connection of the workspace, and its connector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChosenConnection {
    /// Connection.
    pub id: ConnectionId,
    /// Id of its connector, such as `slack`.
    pub connector: String,
}

/// A template that is filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct FilledTemplate {
    /// Manifest of the first version.
    pub manifest: Manifest,
    /// Files of the first version.
    pub files: BTreeMap<String, String>,
    /// Automations to create with the app.
    pub automations: Vec<FilledAutomation>,
}

/// An automation of a filled template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilledAutomation {
    /// Display name.
    pub name: String,
    /// Trigger.
    pub trigger: TemplateTrigger,
    /// Cron expression; for a schedule.
    pub cron: Option<String>,
    /// Most retries of a failed run.
    pub retries: u8,
}

/// A choice that a template refuses: the member, and the rest of a sentence that begins with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {message}")]
pub struct InvalidTemplateInput {
    /// Path of the member.
    pub field: String,
    /// What is wrong.
    pub message: String,
}

impl InvalidTemplateInput {
    fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}

/// Fills in a template.
///
/// # Errors
/// [`InvalidTemplateInput`] that names the first choice that is missing, superfluous or out of bounds.
pub fn fill_template(
    template: &Template,
    input: &FillTemplate<'_>,
) -> Result<FilledTemplate, InvalidTemplateInput> {
    let (connectors, services) = connectors(template, input.connections)?;
    let (settings, hosts) = settings(template, input.settings)?;
    let permissions = Permissions {
        data: data(template, input.project)?,
        connectors,
        secrets: template
            .secrets
            .iter()
            .map(|secret| SecretPermission {
                name: secret.name.clone(),
                uses: Some(secret.uses.clone()),
                clear: false,
            })
            .collect(),
        egress: hosts
            .into_iter()
            .map(|host| EgressPermission::new(host, Some(vec![EgressMethod::Get])))
            .collect(),
        ai: None,
    };
    let manifest = Manifest {
        name: input.name.trim().to_owned(),
        description: input.description.unwrap_or_else(|| template.description.get(input.locale)).to_owned(),
        archetype: template.archetype.clone(),
        category: template.category,
        permissions,
        triggers: triggers(template, input.timezone),
        sharing: ManifestSharing { default: Sharing::Private },
        roi: Roi { manual_minutes_per_run: template.manual_minutes_per_run },
    };
    manifest.check().map_err(|error| InvalidTemplateInput::new("templateId", error.to_string()))?;
    let mut files = template.files();
    if !settings.is_empty() || !services.is_empty() {
        files.insert(SETTINGS_FILE.to_owned(), settings_file(settings, &services));
    }
    let automations = template.automations.iter().map(|automation| FilledAutomation {
        name: automation.name.get(input.locale).clone(),
        trigger: automation.trigger,
        cron: automation.cron.clone(),
        retries: automation.retries,
    });
    Ok(FilledTemplate { manifest, files, automations: automations.collect() })
}

fn data(
    template: &Template,
    project: Option<ProjectId>,
) -> Result<Vec<DataPermission>, InvalidTemplateInput> {
    match (template.tables.is_empty(), project) {
        (true, None) => Ok(Vec::new()),
        (true, Some(_)) => {
            Err(InvalidTemplateInput::new("projectId", "is not needed: the template keeps no rows"))
        }
        (false, None) => {
            Err(InvalidTemplateInput::new("projectId", "is required: the template keeps rows in a project"))
        }
        (false, Some(project_id)) => {
            let writes = template.tables.iter().any(|table| table.access == DataAccess::Write);
            Ok(vec![DataPermission {
                name: PROJECT_BINDING.to_owned(),
                project_id,
                access: if writes { DataAccess::Write } else { DataAccess::Read },
                tables: Some(template.tables.iter().map(|table| table.name.clone()).collect()),
            }])
        }
    }
}

/// Returns the permissions for connections, and the connector of each by its name in the code.
type Connectors = (Vec<ConnectorPermission>, BTreeMap<String, String>);

fn connectors(
    template: &Template,
    chosen: &BTreeMap<String, ChosenConnection>,
) -> Result<Connectors, InvalidTemplateInput> {
    let is_known = |name: &&String| template.connections.iter().any(|wanted| wanted.name == **name);
    if let Some(unknown) = chosen.keys().find(|name| !is_known(name)) {
        return Err(InvalidTemplateInput::new(
            format!("connections.{}", printable(unknown)),
            "is not a connection of the template",
        ));
    }
    let (mut permissions, mut services) = (Vec::new(), BTreeMap::new());
    for wanted in &template.connections {
        let field = format!("connections.{}", wanted.name);
        let known = wanted.connectors.join(", ");
        let Some(connection) = chosen.get(&wanted.name) else {
            return Err(InvalidTemplateInput::new(field, format!("is required: a connection of {known}")));
        };
        if !wanted.connectors.contains(&connection.connector) {
            return Err(InvalidTemplateInput::new(field, format!("must be a connection of {known}")));
        }
        permissions.push(ConnectorPermission {
            name: wanted.name.clone(),
            connection_id: connection.id,
            methods: Some(wanted.methods.clone()),
            paths: None,
        });
        services.insert(wanted.name.clone(), connection.connector.clone());
    }
    Ok((permissions, services))
}

/// Returns the values of settings in the template's order, and the hosts that they name.
type Settings = (Vec<(String, Value)>, BTreeSet<String>);

fn settings(template: &Template, given: &BTreeMap<String, Value>) -> Result<Settings, InvalidTemplateInput> {
    let is_known = |name: &&String| template.settings.iter().any(|setting| setting.name == **name);
    if let Some(unknown) = given.keys().find(|name| !is_known(name)) {
        return Err(InvalidTemplateInput::new(
            format!("settings.{}", printable(unknown)),
            "is not a setting of the template",
        ));
    }
    let (mut values, mut hosts) = (Vec::new(), BTreeSet::new());
    for setting in &template.settings {
        let field = format!("settings.{}", setting.name);
        let Some(value) = given.get(&setting.name).or(setting.default.as_ref()) else {
            return Err(InvalidTemplateInput::new(field, "is required"));
        };
        let found =
            check_setting(setting, value).map_err(|message| InvalidTemplateInput::new(field, message))?;
        hosts.extend(found);
        values.push((setting.name.clone(), value.clone()));
    }
    Ok((values, hosts))
}

/// Checks a value, and returns the hosts that it names.
fn check_setting(setting: &TemplateSetting, value: &Value) -> Result<Vec<String>, &'static str> {
    const TEXT: &str = "must be a text of 1 to 200 characters without control characters";
    const EMAIL: &str = "must be an e-mail address";
    const NUMBER: &str = "must be a number from 0 to 1000000000";
    const URL: &str = "must be an https URL with the name of a host, without a port, a user or a password";
    const URLS: &str = "must be a list of 1 to 10 https URLs, each without a port, a user or a password";
    match (setting.kind, value) {
        (SettingKind::Text, Value::String(text)) => is_text(text, MAX_TEXT).then(Vec::new).ok_or(TEXT),
        (SettingKind::Text, _) => Err(TEXT),
        (SettingKind::Email, Value::String(text)) => {
            let is_address = text
                .split_once('@')
                .is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !host.contains('@'));
            let is_plain = is_text(text, MAX_EMAIL) && !text.contains([' ', '<', '>', ',', ';', '"']);
            (is_address && is_plain).then(Vec::new).ok_or(EMAIL)
        }
        (SettingKind::Email, _) => Err(EMAIL),
        (SettingKind::Number, Value::Number(number)) => {
            let is_within = number.as_f64().is_some_and(|number| (0.0..=1e9).contains(&number));
            is_within.then(Vec::new).ok_or(NUMBER)
        }
        (SettingKind::Number, _) => Err(NUMBER),
        (SettingKind::Url, Value::String(url)) => Ok(vec![host_of(url).ok_or(URL)?]),
        (SettingKind::Url, _) => Err(URL),
        (SettingKind::Urls, Value::Array(urls)) if (1..=MAX_URLS).contains(&urls.len()) => {
            urls.iter().map(|url| url.as_str().and_then(host_of).ok_or(URLS)).collect()
        }
        (SettingKind::Urls, _) => Err(URLS),
    }
}

fn is_text(text: &str, most: usize) -> bool {
    !text.trim().is_empty() && text.chars().count() <= most && kernel::text::is_visible_line(text)
}

/// Returns the host of a URL that an app may call.
fn host_of(url: &str) -> Option<String> {
    let rest = url.strip_prefix("https://")?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest[..end].to_ascii_lowercase();
    let is_plain = url.len() <= MAX_URL && !url.chars().any(|c| c.is_control() || c == ' ' || c == '\\');
    (is_plain && crate::manifest::is_host(&host)).then_some(host)
}

fn triggers(template: &Template, timezone: &str) -> Vec<ManifestTrigger> {
    let mut triggers = vec![ManifestTrigger::Manual {}];
    triggers.extend(template.automations.iter().filter_map(|automation| match automation.trigger {
        TemplateTrigger::Schedule => Some(ManifestTrigger::Schedule {
            cron: automation.cron.clone(),
            timezone: Some(timezone.to_owned()),
        }),
        TemplateTrigger::Webhook => Some(ManifestTrigger::Webhook {}),
        TemplateTrigger::Form => Some(ManifestTrigger::Form {}),
        TemplateTrigger::Manual => None,
    }));
    triggers
}

/// Returns the source of the file with the settings. `services` is the connector of each connection.
fn settings_file(settings: Vec<(String, Value)>, services: &BTreeMap<String, String>) -> String {
    let mut all: Vec<(String, Value)> = settings;
    if !services.is_empty() {
        all.push(("services".to_owned(), json!(services)));
    }
    let lines: String = all.iter().map(|(name, value)| format!("  {name}: {value},\n")).collect();
    let hint = "// The settings of this app. To change one, save a new version; a new host belongs in the manifest, too.\n";
    format!("{hint}export default {{\n{lines}}};\n")
}

/// Returns a name that a caller gave, fit for a message.
fn printable(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(64).collect()
}
