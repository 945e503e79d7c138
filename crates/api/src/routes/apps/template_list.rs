//! Listing the templates.

use std::collections::BTreeMap;

use apps::{
    Category,
    manifest::{DataAccess, HttpMethod, SecretUse},
    templates::{self, SettingKind, Template, TemplateTrigger},
};
use axum::{Json, extract::State, http::HeaderMap};
use kernel::Locale;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::{
    auth::{Ctx, ReadToken},
    http::{error::ApiResult, pages::negotiate_locale, schemas},
    state::Api,
};

/// Templates, with texts in the language of the request's `Accept-Language`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TemplateList {
    items: Vec<TemplateView>,
}

/// An app to start from.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Template)]
pub(crate) struct TemplateView {
    id: &'static str,
    name: &'static str,
    description: &'static str,
    archetype: &'static str,
    #[schema(value_type = schemas::apps::Category)]
    category: Category,
    /// Minutes that one run saves.
    manual_minutes_per_run: f64,
    /// Steps to take after the app is created.
    steps: Vec<&'static str>,
    /// Tables of the project; missing ones are created.
    tables: Vec<TableView>,
    /// Connections to choose.
    connections: Vec<ConnectionView>,
    /// Secrets that an admin gives a value on the page of the app.
    secrets: Vec<SecretView>,
    settings: Vec<SettingView>,
    automations: Vec<AutomationView>,
    /// Source text by path, without the settings.
    files: BTreeMap<String, String>,
}

/// A table of a template.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TemplateTable)]
pub(crate) struct TableView {
    name: &'static str,
    #[schema(value_type = schemas::apps::DataAccess)]
    access: DataAccess,
    /// Columns beside `id` and `created_at`.
    columns: Vec<ColumnView>,
}

/// A column of a template's table.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TemplateColumn)]
pub(crate) struct ColumnView {
    name: &'static str,
    #[serde(rename = "type")]
    #[schema(value_type = schemas::backend_data::ColumnType)]
    kind: &'static str,
}

/// A connection of a template.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TemplateConnection)]
pub(crate) struct ConnectionView {
    /// Name in the code.
    name: &'static str,
    label: &'static str,
    /// Connectors that the code knows; the connection is of one of them.
    connectors: &'static [String],
    #[schema(value_type = Vec<schemas::apps::HttpMethod>)]
    methods: &'static [HttpMethod],
}

/// A secret of a template.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TemplateSecret)]
pub(crate) struct SecretView {
    /// Name in the code.
    name: &'static str,
    label: &'static str,
    #[schema(value_type = Vec<schemas::apps::SecretUse>)]
    uses: &'static [SecretUse],
}

/// A setting of a template.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TemplateSetting)]
pub(crate) struct SettingView {
    name: &'static str,
    label: &'static str,
    #[schema(value_type = schemas::apps::SettingKind)]
    kind: SettingKind,
    /// Value that the setting could have.
    example: &'static Value,
    /// Value if none is given; null if the setting is required.
    #[schema(required)]
    default: Option<&'static Value>,
}

/// An automation of a template.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TemplateAutomation)]
pub(crate) struct AutomationView {
    name: &'static str,
    #[schema(value_type = schemas::apps::TemplateTrigger)]
    trigger: TemplateTrigger,
    /// Cron expression in the workspace's time zone; for a schedule.
    #[schema(required)]
    cron: Option<&'static str>,
}

impl TemplateView {
    fn of(template: &'static Template, locale: Locale) -> Self {
        Self {
            id: &template.id,
            name: template.name.get(locale),
            description: template.description.get(locale),
            archetype: &template.archetype,
            category: template.category,
            manual_minutes_per_run: template.manual_minutes_per_run,
            steps: template.steps.iter().map(|step| step.get(locale).as_str()).collect(),
            tables: template.tables.iter().map(TableView::of).collect(),
            connections: template
                .connections
                .iter()
                .map(|it| ConnectionView {
                    name: &it.name,
                    label: it.label.get(locale),
                    connectors: &it.connectors,
                    methods: &it.methods,
                })
                .collect(),
            secrets: template
                .secrets
                .iter()
                .map(|it| SecretView { name: &it.name, label: it.label.get(locale), uses: &it.uses })
                .collect(),
            settings: template
                .settings
                .iter()
                .map(|it| SettingView {
                    name: &it.name,
                    label: it.label.get(locale),
                    kind: it.kind,
                    example: &it.example,
                    default: it.default.as_ref(),
                })
                .collect(),
            automations: template
                .automations
                .iter()
                .map(|it| AutomationView {
                    name: it.name.get(locale),
                    trigger: it.trigger,
                    cron: it.cron.as_deref(),
                })
                .collect(),
            files: template.files(),
        }
    }
}

impl TableView {
    fn of(table: &'static templates::TemplateTable) -> Self {
        let columns =
            table.columns.iter().map(|column| ColumnView { name: &column.name, kind: &column.kind });
        Self { name: &table.name, access: table.access, columns: columns.collect() }
    }
}

/// List the templates
///
/// Templates are apps to start from: pass an `id` as `templateId` when you create an app.
#[utoipa::path(get, path = "/v1/templates", tag = "apps", responses((status = 200, body = TemplateList)))]
pub(crate) async fn list_templates(
    State(_): State<Api>,
    _: Ctx<ReadToken>,
    headers: HeaderMap,
) -> ApiResult<Json<TemplateList>> {
    let locale = negotiate_locale(&headers);
    let items = templates::templates().iter().map(|template| TemplateView::of(template, locale)).collect();
    Ok(Json(TemplateList { items }))
}
