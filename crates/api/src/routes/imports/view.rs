//! Imports on the wire.

use application::imports::ImportContext;
use chrono::{DateTime, Utc};
use imports::{
    Format, Grade,
    imports::{Import, ImportStatus},
    report::{self, Report, TriggerKind},
};
use kernel::id::{AppId, AutomationId, ConnectionId, ImportId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::{conditional::Representation, schemas};

/// An import, without its report.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportSummary {
    id: ImportId,
    /// Name of the app.
    #[schema(min_length = 2, max_length = 60)]
    name: String,
    #[schema(value_type = schemas::imports::ImportFormat)]
    format: Format,
    #[schema(value_type = schemas::imports::ImportStatus)]
    status: ImportStatus,
    /// App that the workflow became; null once it is discarded or deleted.
    #[schema(required)]
    app_id: Option<AppId>,
    /// Automation of the app, which is paused until you turn the import on.
    #[schema(required)]
    automation_id: Option<AutomationId>,
    totals: ImportTotals,
    #[serde(serialize_with = "kernel::rfc3339::millis")]
    created_at: DateTime<Utc>,
}

impl From<&Import> for ImportSummary {
    fn from(import: &Import) -> Self {
        Self {
            id: import.id,
            name: import.name.clone(),
            format: import.report.format,
            status: import.status,
            app_id: import.app,
            automation_id: import.automation,
            totals: import.report.totals.into(),
            created_at: import.created_at,
        }
    }
}

/// An import with its report.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Import)]
pub(crate) struct ImportView {
    #[serde(flatten)]
    summary: ImportSummary,
    report: ImportReport,
    context: ImportContextView,
}

impl Representation for ImportView {}

impl ImportView {
    pub(crate) fn of(import: Import, context: ImportContext) -> Self {
        Self { summary: (&import).into(), report: import.report.into(), context: context.into() }
    }
}

/// Numbers of items by grade.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportTotals {
    /// All items: the sum of the four grades.
    steps: u32,
    exact: u32,
    partial: u32,
    unsupported: u32,
    ignored: u32,
    /// Items among them that need a connection.
    needs_connection: u32,
}

impl From<report::Totals> for ImportTotals {
    fn from(totals: report::Totals) -> Self {
        let report::Totals { steps, exact, partial, unsupported, ignored, needs_connection } = totals;
        Self { steps, exact, partial, unsupported, ignored, needs_connection }
    }
}

/// A report on an export: what the app keeps of it. Sentences are in the language of the workspace.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportReport {
    /// Version of the form of the report.
    #[schema(minimum = 1, maximum = 1)]
    v: u8,
    #[schema(value_type = schemas::imports::ImportFormat)]
    format: Format,
    /// Name of the workflow.
    #[schema(max_length = 120)]
    name: String,
    trigger: ImportTriggerView,
    /// The start of the workflow as a sentence.
    #[schema(max_length = 200)]
    starts: String,
    /// Steps in the order in which they run, and after them what does not run.
    #[schema(max_items = 260)]
    items: Vec<ImportItem>,
    totals: ImportTotals,
    /// Connections that the steps need.
    #[schema(max_items = 260)]
    connections: Vec<ImportConnection>,
    /// Connectors of the catalogue among them.
    connectors: Vec<ImportConnectorUse>,
    /// Secrets that were in the export. Their values are removed, and neither kept nor shown.
    #[schema(max_items = 40)]
    secrets: Vec<ImportSecret>,
    /// Facts to know before you create the import, and reasons why you cannot.
    #[schema(max_items = 10)]
    warnings: Vec<String>,
    /// `true` if an import can be created: it has at most 260 steps, 12 connections, 6 connectors and 40 secrets.
    can_create: bool,
    /// Figures about the workflow.
    #[schema(max_items = 40)]
    facts: Vec<ImportFact>,
    /// The report in a few sentences.
    #[schema(max_items = 40)]
    sentences: Vec<String>,
}

/// The start of a workflow.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ImportStart)]
pub(crate) struct ImportTriggerView {
    #[serde(rename = "type")]
    #[schema(value_type = schemas::imports::ImportTrigger)]
    kind: TriggerKind,
    /// Cron expression of five fields; for a schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    cron: Option<String>,
    /// IANA time zone; for a schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    timezone: Option<String>,
    /// Id of the item that starts the workflow; null if none does.
    #[schema(required)]
    item_id: Option<String>,
}

/// A step of the export.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportItem {
    /// Id; unique in the report.
    id: String,
    /// Name in the export.
    name: String,
    /// Type, as the tool calls it.
    #[serde(rename = "type")]
    kind: String,
    #[schema(value_type = schemas::imports::ImportGrade)]
    grade: Grade,
    needs_connection: bool,
    /// Name of its function in `main.js`; null if it has none.
    #[schema(required)]
    step: Option<String>,
    /// Explanation of what is kept and what is not.
    #[schema(max_length = 600)]
    sentence: String,
}

/// A connection that steps need.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportConnection {
    /// Name in the code, and in `bindings`.
    key: String,
    /// Connector of the catalogue; null for a connection that you describe by hand.
    #[schema(required)]
    connector_id: Option<String>,
    /// Name of the credential in the export, or of the service.
    name: String,
    /// Base URL that the code expects, for a connection that you describe by hand.
    #[schema(required)]
    base_url: Option<String>,
    /// Ids of the items that need it.
    steps: Vec<String>,
}

/// A connector that steps need.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportConnectorUse {
    connector_id: String,
    /// Number of items that need it.
    steps: u32,
}

/// A secret that was in the export.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportSecret {
    /// Id of the item; null if it was elsewhere.
    #[schema(required)]
    item_id: Option<String>,
    /// Members and indices that lead to it in the export.
    #[schema(max_length = 200)]
    place: String,
    /// Kind, such as `bearer`, `api_key` or `password`.
    kind: String,
}

/// A figure about the workflow.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ImportFact {
    name: String,
    value: String,
}

impl From<Report> for ImportReport {
    fn from(report: Report) -> Self {
        let item = |item: report::ReportItem| ImportItem {
            id: item.id,
            name: item.name,
            kind: item.kind,
            grade: item.grade,
            needs_connection: item.needs_connection,
            step: item.step,
            sentence: item.sentence,
        };
        let connection = |connection: report::ReportConnection| ImportConnection {
            key: connection.key,
            connector_id: connection.connector_id,
            name: connection.name,
            base_url: connection.base_url,
            steps: connection.steps,
        };
        let connector = |connector: report::ReportConnector| ImportConnectorUse {
            connector_id: connector.connector_id,
            steps: connector.steps,
        };
        let secret = |secret: report::FoundSecret| ImportSecret {
            item_id: secret.item_id,
            place: secret.place,
            kind: secret.kind,
        };
        let fact = |fact: report::Fact| ImportFact { name: fact.name, value: fact.value };
        let report::ReportTrigger { kind, cron, timezone, item_id } = report.trigger;
        Self {
            v: report.v,
            format: report.format,
            name: report.name,
            trigger: ImportTriggerView { kind, cron, timezone, item_id },
            starts: report.starts,
            items: report.items.into_iter().map(item).collect(),
            totals: report.totals.into(),
            connections: report.connections.into_iter().map(connection).collect(),
            connectors: report.connectors.into_iter().map(connector).collect(),
            secrets: report.secrets.into_iter().map(secret).collect(),
            warnings: report.warnings,
            can_create: report.can_create,
            facts: report.facts.into_iter().map(fact).collect(),
            sentences: report.sentences,
        }
    }
}

/// Connectors and connections of the workspace that a report needs.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ImportContext)]
pub(crate) struct ImportContextView {
    connectors: Vec<ImportContextConnector>,
    matches: Vec<ImportContextMatch>,
}

/// A connector that the report needs.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportContextConnector {
    connector_id: String,
    name: String,
    /// `true` if a connection can be made today.
    available: bool,
}

/// Connections that fit a key of the report.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportContextMatch {
    key: String,
    /// Connections to the connector of the key; for a connection that you describe by hand, those to its host.
    connection_ids: Vec<ConnectionId>,
}

impl From<ImportContext> for ImportContextView {
    fn from(context: ImportContext) -> Self {
        let connector = |connector: application::imports::ImportConnector| ImportContextConnector {
            connector_id: connector.connector_id,
            name: connector.name,
            available: connector.is_available,
        };
        let found = |found: application::imports::ImportMatch| ImportContextMatch {
            key: found.key,
            connection_ids: found.connections,
        };
        Self {
            connectors: context.connectors.into_iter().map(connector).collect(),
            matches: context.matches.into_iter().map(found).collect(),
        }
    }
}
