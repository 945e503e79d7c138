//! Templates: apps to start from. Each is a folder of `crates/apps/templates/` with what it needs (`template.toml`), its code
//! (`main.js`) and the calls that its test makes (`test.json`).

mod files;
mod fill;

use std::{collections::BTreeMap, sync::LazyLock};

use kernel::Translated;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Category,
    manifest::{DataAccess, HttpMethod, SecretUse},
};

pub use fill::{
    ChosenConnection, FillTemplate, FilledAutomation, FilledTemplate, InvalidTemplateInput, fill_template,
};

/// Name of the project in the code of every template that keeps rows.
pub const PROJECT_BINDING: &str = "main";
/// File with the settings that a person gave.
pub const SETTINGS_FILE: &str = "settings.js";

/// An app to start from.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// Id; the name of the folder.
    pub id: String,
    /// Building that the console draws.
    pub archetype: String,
    /// Subject of the app.
    pub category: Category,
    /// Minutes that a person would need for the work of one run.
    pub manual_minutes_per_run: f64,
    /// Name of the app.
    pub name: Translated,
    /// Purpose of the app, in one sentence.
    pub description: Translated,
    /// Steps that a person takes after the app is created.
    #[serde(default)]
    pub steps: Vec<Translated>,
    /// Tables in which it keeps rows.
    #[serde(default)]
    pub tables: Vec<TemplateTable>,
    /// Connections that it asks for.
    #[serde(default)]
    pub connections: Vec<TemplateConnection>,
    /// Secrets that it asks for.
    #[serde(default)]
    pub secrets: Vec<TemplateSecret>,
    /// Settings that its code reads.
    #[serde(default)]
    pub settings: Vec<TemplateSetting>,
    /// Ways in which it starts.
    #[serde(default)]
    pub automations: Vec<TemplateAutomation>,
    /// Files that it shares with other templates, of `shared/`.
    #[serde(default)]
    shared: Vec<String>,
}

/// A table of a template.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateTable {
    /// Name.
    pub name: String,
    /// Access that the app asks for.
    pub access: DataAccess,
    /// Columns beside `id` and `created_at`.
    pub columns: Vec<TemplateColumn>,
}

/// A column of a table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateColumn {
    /// Name.
    pub name: String,
    /// Type of its values, such as `text`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// A connection of a template.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateConnection {
    /// Name in the code.
    pub name: String,
    /// Use of the connection.
    pub label: Translated,
    /// Ids of the connectors that the code knows; one of them is needed.
    pub connectors: Vec<String>,
    /// Methods that the app asks for.
    pub methods: Vec<HttpMethod>,
}

/// A secret of a template. An admin gives it a value.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateSecret {
    /// Name in the code.
    pub name: String,
    /// What it is and where to find it.
    pub label: Translated,
    /// Uses that the code makes of it.
    pub uses: Vec<SecretUse>,
}

/// A setting of a template.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateSetting {
    /// Name in the code.
    pub name: String,
    /// What it is.
    pub label: Translated,
    /// Form of its values.
    pub kind: SettingKind,
    /// A value that it could have.
    pub example: Value,
    /// Value if none is given; a setting without a default is required.
    #[serde(default)]
    pub default: Option<Value>,
}

/// The form of a setting's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingKind {
    /// A text of 1 to 200 characters.
    Text,
    /// An address for mail.
    Email,
    /// A number, 0 or more.
    Number,
    /// An https URL. The app may send GET requests to its host.
    Url,
    /// A list of 1 to 10 such URLs.
    Urls,
}

kernel::names! {
    SettingKind {
        Text = "text",
        Email = "email",
        Number = "number",
        Url = "url",
        Urls = "urls",
    }
}

/// A way in which a template starts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateAutomation {
    /// Name of the automation.
    pub name: Translated,
    /// Trigger.
    pub trigger: TemplateTrigger,
    /// Cron expression; for a schedule.
    #[serde(default)]
    pub cron: Option<String>,
    /// Most retries of a failed run.
    #[serde(default)]
    pub retries: u8,
}

/// The trigger of a template's automation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TemplateTrigger {
    /// A schedule, in the workspace's time zone.
    Schedule,
    /// A call of its webhook.
    Webhook,
    /// A submission of its public form.
    Form,
    /// A start by a person.
    Manual,
}

kernel::names! {
    TemplateTrigger {
        Schedule = "schedule",
        Webhook = "webhook",
        Form = "form",
        Manual = "manual",
    }
}

impl Template {
    /// Returns the source text of its files by path, without the settings.
    #[must_use]
    pub fn files(&self) -> BTreeMap<String, String> {
        let main = files::FILES.iter().find(|file| file.id == self.id).map(|file| ("main", file.main));
        let shared = files::SHARED.iter().filter(|(name, _)| self.shared.iter().any(|used| used == name));
        main.into_iter()
            .chain(shared.copied())
            .map(|(name, text)| (format!("{name}.js"), text.to_owned()))
            .collect()
    }
}

static TEMPLATES: LazyLock<Vec<Template>> = LazyLock::new(|| {
    // A test parses every file, so that none is left out here.
    files::FILES.iter().filter_map(|file| toml::from_str(file.template).ok()).collect()
});

/// Returns every template, by id.
#[must_use]
pub fn templates() -> &'static [Template] {
    &TEMPLATES
}

/// Returns a template by its id.
#[must_use]
pub fn find_template(id: &str) -> Option<&'static Template> {
    templates().iter().find(|template| template.id == id)
}

#[cfg(test)]
mod tests;
