//! Reports: what an import would keep, for the person who decides about it (specification part B, "Imports").

use serde::{Deserialize, Serialize};

use crate::{Format, Grade};

/// Most items of a report.
pub const MAX_ITEMS: usize = 260;
/// Most connections that an import may need.
pub const MAX_CONNECTIONS: usize = 12;
/// Most connectors of the catalogue that an import may need.
pub const MAX_CONNECTORS: usize = 6;
/// Most secrets that are listed.
pub const MAX_SECRETS: usize = 40;
pub(crate) const MAX_WARNINGS: usize = 10;
pub(crate) const MAX_SENTENCES: usize = 40;
pub(crate) const MAX_FACTS: usize = 40;

/// A graded report of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Version of the report's form; 1.
    pub v: u8,
    /// Format of the export.
    pub format: Format,
    /// Name of the workflow; at most 120 characters.
    pub name: String,
    /// Start of the workflow.
    pub trigger: ReportTrigger,
    /// The same as a sentence; at most 200 characters.
    pub starts: String,
    /// Steps in the order in which they run.
    pub items: Vec<ReportItem>,
    /// Numbers of items by grade.
    pub totals: Totals,
    /// Connections that the steps need.
    pub connections: Vec<ReportConnection>,
    /// Connectors of the catalogue among them.
    pub connectors: Vec<ReportConnector>,
    /// Secrets that were in the export, without their values.
    pub secrets: Vec<FoundSecret>,
    /// Facts to know before the import is created, and reasons why it cannot be.
    pub warnings: Vec<String>,
    /// `true` if an import can be created.
    pub can_create: bool,
    /// Figures about the workflow.
    pub facts: Vec<Fact>,
    /// The whole in a few sentences.
    pub sentences: Vec<String>,
}

/// The start of a workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportTrigger {
    /// Kind of the start.
    #[serde(rename = "type")]
    pub kind: TriggerKind,
    /// Cron expression of five fields; for a schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// IANA time zone; for a schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Id of the item that starts it; none if a person has to.
    pub item_id: Option<String>,
}

/// A kind of start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TriggerKind {
    /// A person.
    Manual,
    /// A call of a webhook.
    Webhook,
    /// A submitted form.
    Form,
    /// A schedule.
    Schedule,
}

kernel::names! {
    TriggerKind {
        Manual = "manual",
        Webhook = "webhook",
        Form = "form",
        Schedule = "schedule",
    }
}

/// A step of the export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportItem {
    /// Id; unique in the report.
    pub id: String,
    /// Name in the export; at most 120 characters.
    pub name: String,
    /// Type, as the tool calls it; at most 120 characters.
    #[serde(rename = "type")]
    pub kind: String,
    /// Share of it that is kept.
    pub grade: Grade,
    /// `true` if it needs a connection.
    pub needs_connection: bool,
    /// Name of its function in `main.js`; none if it has no function.
    pub step: Option<String>,
    /// Explanation of what is kept and what is not; at most 600 characters.
    pub sentence: String,
}

/// Numbers of items by grade.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Totals {
    /// All items.
    pub steps: u32,
    /// Items that are kept as they are.
    pub exact: u32,
    /// Items that are kept in part.
    pub partial: u32,
    /// Items that are not kept.
    pub unsupported: u32,
    /// Items that do nothing.
    pub ignored: u32,
    /// Items among them that need a connection.
    pub needs_connection: u32,
}

/// A connection that steps need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportConnection {
    /// Name in the code, and in `bindings`.
    pub key: String,
    /// Connector of the catalogue; none for one that is described by hand.
    pub connector_id: Option<String>,
    /// Name of the credential in the export, or of the service.
    pub name: String,
    /// Base URL that the code expects, for a connection that is described by hand.
    pub base_url: Option<String>,
    /// Ids of the items that need it.
    pub steps: Vec<String>,
}

/// A connector of the catalogue that steps need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportConnector {
    /// Id in the catalogue.
    pub connector_id: String,
    /// Number of items that need it.
    pub steps: u32,
}

/// A secret that was in the export. Its value is neither kept nor shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundSecret {
    /// Id of the item; none if it was elsewhere in the export.
    pub item_id: Option<String>,
    /// Place in the export; at most 200 characters.
    pub place: String,
    /// Kind, such as `bearer` or `password`.
    pub kind: String,
}

/// A figure about the workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fact {
    /// Name, such as `nodes`.
    pub name: String,
    /// Value.
    pub value: String,
}
