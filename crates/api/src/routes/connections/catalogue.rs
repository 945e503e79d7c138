//! Reading the catalogue of connectors.

use axum::{Json, extract::State, http::HeaderMap};
use connections::catalogue::{
    Capability, CatalogueAuth, CatalogueEntry, CatalogueField, CatalogueGroup, CatalogueRegion,
    CatalogueStatus, catalogue,
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

/// The connectors that are known.
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
    category: &'static str,
    #[schema(value_type = schemas::connections::ConnectorGroup)]
    group: CatalogueGroup,
    summary: &'static str,
    #[schema(value_type = schemas::connections::ConnectorAuth)]
    auth: CatalogueAuth,
    /// Fields to fill beside the secret.
    #[schema(value_type = Vec<schemas::connections::ConnectorField>)]
    fields: &'static [CatalogueField],
    #[schema(value_type = Vec<schemas::connections::Capability>)]
    actions: &'static [Capability],
    #[schema(value_type = Vec<schemas::connections::Capability>)]
    triggers: &'static [Capability],
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

impl ConnectorItem {
    fn of(entry: &'static CatalogueEntry, locale: Locale, apps: &OauthApps) -> Self {
        let is_ready = entry.connector_id.as_deref().is_some_and(|connector| apps.get(connector).is_some());
        let status = match entry.status {
            CatalogueStatus::NeedsOauthApp if is_ready => CatalogueStatus::Available,
            status => status,
        };
        let guide = entry.guide.steps(locale);
        Self {
            id: &entry.id,
            connector_id: entry.connector_id.as_deref(),
            name: &entry.name,
            monogram: &entry.monogram,
            category: &entry.category,
            group: entry.group,
            summary: &entry.summary,
            auth: entry.auth,
            fields: &entry.fields,
            actions: &entry.actions,
            triggers: &entry.triggers,
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
    let entries =
        catalogue().iter().map(|entry| ConnectorItem::of(entry, locale, api.oauth_apps())).collect();
    Ok(Json(ConnectorCatalog { entries }))
}
