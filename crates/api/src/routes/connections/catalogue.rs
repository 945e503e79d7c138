//! Reading the catalogue of connectors.

use axum::{Json, extract::State, http::HeaderMap};
use connections::catalogue::{
    self, CatalogueAuth, CatalogueCategory, CatalogueEntry, CatalogueGroup, CatalogueRegion, CatalogueStatus,
    FieldForm,
};
use connections::oauth_apps::OauthApps;
use kernel::Locale;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    auth::{Ctx, ReadToken},
    http::{error::ApiResult, pages::negotiate_locale, schemas},
    state::Api,
};

/// The connectors that are known, with texts in the language of the request's `Accept-Language`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConnectorCatalog {
    entries: Vec<ConnectorItem>,
}

/// A connector: a service, and what a connection to it needs.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CatalogEntry)]
pub(crate) struct ConnectorItem {
    id: &'static str,
    /// Null while the connector is only planned.
    #[schema(required)]
    connector_id: Option<&'static str>,
    name: &'static str,
    /// Letters in place of a logo.
    #[schema(min_length = 1, max_length = 3)]
    monogram: &'static str,
    #[schema(value_type = schemas::connections::ConnectorCategory)]
    category: CatalogueCategory,
    /// Kind of service, such as `crm` or `payments`.
    #[schema(min_length = 1, max_length = 20)]
    service: &'static str,
    #[schema(value_type = schemas::connections::ConnectorGroup)]
    group: CatalogueGroup,
    summary: &'static str,
    #[schema(value_type = schemas::connections::ConnectorAuth)]
    auth: CatalogueAuth,
    /// Fields to fill beside the secret.
    fields: Vec<ConnectorField>,
    /// What an app can do with the service.
    actions: Vec<Capability>,
    /// What the service can report.
    triggers: Vec<Capability>,
    #[schema(value_type = Vec<schemas::connections::ConnectorRegion>)]
    regions: &'static [CatalogueRegion],
    #[schema(value_type = schemas::connections::ConnectorStatus)]
    status: CatalogueStatus,
    #[schema(format = "uri")]
    docs_url: &'static str,
    /// How to get the secret, a step a line, in the language of the request's `Accept-Language`.
    #[schema(required)]
    guide: Option<String>,
    /// Always null.
    #[schema(required, value_type = Option<Object>)]
    http_preset: Option<()>,
}

/// A field of a connector's form.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConnectorField {
    /// Name, as in `values`.
    name: &'static str,
    label: &'static str,
    /// Form of its values.
    #[schema(value_type = schemas::connections::FieldForm)]
    form: FieldForm,
    /// Value that the field could have.
    example: &'static str,
    /// Values to choose from; for the form `choice`.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    #[schema(required = false)]
    options: &'static [String],
    /// Value if none is given. A field without a default is required.
    #[serde(skip_serializing_if = "Option::is_none")]
    default: Option<&'static str>,
}

/// Something that an app can do with a connector, or that its service can report.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Capability {
    id: &'static str,
    name: &'static str,
}

impl ConnectorField {
    fn of(field: &'static catalogue::CatalogueField, locale: Locale) -> Self {
        Self {
            name: &field.name,
            label: field.label.get(locale),
            form: field.form,
            example: &field.example,
            options: &field.options,
            default: field.default.as_deref(),
        }
    }
}

impl Capability {
    fn of(capability: &'static catalogue::Capability, locale: Locale) -> Self {
        Self { id: &capability.id, name: capability.name.get(locale) }
    }
}

impl ConnectorItem {
    fn of(entry: &'static CatalogueEntry, locale: Locale, apps: &OauthApps) -> Self {
        let is_ready = entry.connector_id.as_deref().is_some_and(|connector| apps.get(connector).is_some());
        let status = match entry.status {
            CatalogueStatus::NeedsOauthApp if is_ready => CatalogueStatus::Available,
            status => status,
        };
        let guide = entry.guide.get(locale);
        let capabilities = |of: &'static [catalogue::Capability]| {
            of.iter().map(|capability| Capability::of(capability, locale)).collect()
        };
        Self {
            id: &entry.id,
            connector_id: entry.connector_id.as_deref(),
            name: &entry.name,
            monogram: &entry.monogram,
            category: entry.category,
            service: &entry.service,
            group: entry.group,
            summary: entry.summary.get(locale),
            auth: entry.auth,
            fields: entry.fields.iter().map(|field| ConnectorField::of(field, locale)).collect(),
            actions: capabilities(&entry.actions),
            triggers: capabilities(&entry.triggers),
            regions: &entry.regions,
            status,
            docs_url: &entry.docs_url,
            guide: (!guide.is_empty()).then(|| guide.join("\n")),
            http_preset: None,
        }
    }
}

/// Read the catalogue of connectors
#[utoipa::path(get, path = "/v1/connector-catalog", tag = "connections", responses((status = 200, body = ConnectorCatalog)))]
pub(crate) async fn read_connector_catalog(
    State(api): State<Api>,
    _: Ctx<ReadToken>,
    headers: HeaderMap,
) -> ApiResult<Json<ConnectorCatalog>> {
    let locale = negotiate_locale(&headers);
    let entries = catalogue::catalogue()
        .iter()
        .map(|entry| ConnectorItem::of(entry, locale, api.oauth_apps()))
        .collect();
    Ok(Json(ConnectorCatalog { entries }))
}
