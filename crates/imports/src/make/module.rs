//! A module of a blueprint, and how its settings become code.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::Value;

use super::iml;
use crate::{
    javascript,
    workflow::{Link, Need},
};

/// A module.
pub(super) struct Module<'a> {
    pub(super) value: &'a Value,
    /// Id, by which expressions refer to it.
    pub(super) id: String,
    pub(super) name: String,
    /// Type, such as `http:ActionSendData`.
    pub(super) kind: &'a str,
    pub(super) notes: &'a str,
    pub(super) place: Vec<String>,
    pub(super) inputs: Vec<Link>,
    /// Whether it follows a failure.
    pub(super) handles_errors: bool,
    /// Names of modules by id.
    pub(super) names: BTreeMap<String, String>,
    refused: RefCell<Vec<String>>,
}

impl<'a> Module<'a> {
    pub(super) fn read(value: &'a Value, place: Vec<String>, index: usize) -> Option<Self> {
        let kind = value.get("module").and_then(Value::as_str)?;
        let id = match value.get("id") {
            Some(Value::Number(id)) => id.to_string(),
            Some(Value::String(id)) if !id.is_empty() && id.len() <= 64 => id.clone(),
            _ => format!("module-{index}"),
        };
        let given = value
            .pointer("/metadata/designer/name")
            .and_then(Value::as_str)
            .filter(|name| !name.trim().is_empty());
        let action = kind
            .split(':')
            .next_back()
            .unwrap_or(kind)
            .trim_start_matches("Action")
            .trim_start_matches("Basic");
        let app = kind.split(':').next().unwrap_or_default();
        let name = given.map_or_else(|| format!("{app} {action} {id}"), str::to_owned);
        Some(Self {
            value,
            id,
            name,
            kind,
            notes: value
                .pointer("/metadata/designer/notes/0/content")
                .and_then(Value::as_str)
                .unwrap_or_default(),
            place,
            inputs: Vec::new(),
            handles_errors: false,
            names: BTreeMap::new(),
            refused: RefCell::default(),
        })
    }

    pub(super) fn get(&self, path: &str) -> Option<&'a Value> {
        let mut value = self.value;
        for part in path.split('.') {
            value = value.get(part)?;
        }
        Some(value)
    }

    /// Returns a member of the mapper, or of the parameters.
    pub(super) fn option(&self, name: &str) -> Option<&'a Value> {
        let in_mapper = self.value.get("mapper").and_then(|mapper| mapper.get(name));
        in_mapper.or_else(|| self.value.get("parameters").and_then(|parameters| parameters.get(name)))
    }

    pub(super) fn plain(&self, name: &str) -> Option<&'a str> {
        self.option(name).and_then(Value::as_str).filter(|text| !text.contains("{{"))
    }

    pub(super) fn code(&self, value: &Value) -> String {
        match value {
            Value::String(text) => {
                let step = |id: &str| self.names.get(id).cloned();
                iml::translate(text, &step).unwrap_or_else(|refused| {
                    self.refuse(&refused.0);
                    format!("notTranslated({})", javascript::string(text))
                })
            }
            Value::Array(values) => {
                format!("[{}]", values.iter().map(|value| self.code(value)).collect::<Vec<_>>().join(", "))
            }
            Value::Object(members) if members.is_empty() => "{}".to_owned(),
            Value::Object(members) => {
                let members: Vec<String> = members
                    .iter()
                    .map(|(name, value)| format!("{}: {}", javascript::key(name), self.code(value)))
                    .collect();
                format!("{{ {} }}", members.join(", "))
            }
            other => javascript::literal(other),
        }
    }

    pub(super) fn option_code(&self, name: &str) -> Option<String> {
        self.option(name).filter(|value| !value.is_null()).map(|value| self.code(value))
    }

    pub(super) fn app(&self) -> &'a str {
        self.kind.split(':').next().unwrap_or_default()
    }

    pub(super) fn need(&self, connector: Option<&str>, name: &str, base_url: Option<String>) -> Need {
        let parameters = self.value.get("parameters");
        let connection =
            ["__IMTCONN__", "account", "connection"].iter().find_map(|name| parameters?.get(*name));
        let credential = connection.map(ToString::to_string).unwrap_or_default();
        let label =
            self.value.pointer("/metadata/restore/parameters/__IMTCONN__/label").and_then(Value::as_str);
        Need {
            credential: format!("{}|{credential}|{}", self.app(), base_url.as_deref().unwrap_or_default()),
            connector: connector.map(str::to_owned),
            name: label.unwrap_or(name).to_owned(),
            base_url,
            methods: BTreeSet::new(),
        }
    }

    /// Notes an expression that could not be translated.
    pub(super) fn refuse(&self, text: &str) {
        let mut refused = self.refused.borrow_mut();
        // Three of them tell enough.
        if refused.len() < 3 && !refused.iter().any(|known| known == text) {
            refused.push(text.to_owned());
        }
    }

    /// Returns what could not be translated, once.
    pub(super) fn take_refused(&self) -> Vec<String> {
        self.refused.take()
    }
}

/// Connectors of the catalogue by the app of a module.
pub(super) fn connector_of(app: &str) -> Option<&'static str> {
    Some(match app {
        "airtable" => "airtable",
        "discord" => "discord",
        "freshdesk" => "freshdesk",
        "github" => "github",
        "gitlab" => "gitlab",
        "google-email" => "gmail",
        "google-calendar" => "google_calendar",
        "google-drive" => "google_drive",
        "google-sheets" => "google_sheets",
        "hubspotcrm" | "hubspot" => "hubspot",
        "jira" | "jira-cloud-platform" => "jira",
        "linear" => "linear",
        "mailgun" => "mailgun",
        "microsoft-email" | "microsoft-teams" | "onedrive" | "microsoft-excel" => "microsoft_graph",
        "notion" => "notion",
        "paypal" => "paypal",
        "pipedrive" => "pipedrive",
        "resend" => "resend",
        "sendgrid" => "sendgrid",
        "sendinblue" => "brevo",
        "sentry" => "sentry",
        "shopify" => "shopify",
        "slack" => "slack",
        "stripe" => "stripe",
        "supabase" => "supabase",
        "telegram" => "telegram",
        "twilio" => "twilio",
        "whatsapp-business-cloud" => "whatsapp",
        "woocommerce" => "woocommerce",
        _ => return None,
    })
}
