//! Surroundings of an import: connectors that are available, and connections that fit.

use connections::{
    catalogue::{CatalogueStatus, catalogue},
    connection::HTTP_CONNECTOR,
};
use imports::Report;
use kernel::{Context, authority::Member, id::ConnectionId};
use url::Url;

use crate::{Application, Problem};

/// Connectors and connections of the workspace that a report needs.
#[derive(Debug)]
pub struct ImportContext {
    /// Connectors of the report.
    pub connectors: Vec<ImportConnector>,
    /// Connections by the keys of the report.
    pub matches: Vec<ImportMatch>,
}

/// A connector that an import needs.
#[derive(Debug)]
pub struct ImportConnector {
    /// Id in the catalogue.
    pub connector_id: String,
    /// Name.
    pub name: String,
    /// `true` if a connection can be made today.
    pub is_available: bool,
}

/// Connections of the workspace that fit one key of a report.
#[derive(Debug)]
pub struct ImportMatch {
    /// Key of the report's connection.
    pub key: String,
    /// Connections to its connector; for one that is described by hand, those to its host.
    pub connections: Vec<ConnectionId>,
}

impl Application {
    /// Finds what the workspace has for the connections of a report.
    ///
    /// # Errors
    /// [`Problem`] if the store fails.
    pub async fn import_context(
        &self,
        ctx: &Context,
        member: &Member,
        report: &Report,
    ) -> Result<ImportContext, Problem> {
        let connections = if report.connections.is_empty() {
            Vec::new()
        } else {
            self.usable_connections(ctx, member.workspace()).await?
        };
        let host_of = |url: &str| Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let matches = report.connections.iter().map(|wanted| {
            let host = wanted.base_url.as_deref().and_then(host_of);
            let fits = |connection: &&connections::Connection| match &wanted.connector_id {
                Some(connector) => connection.connector == *connector,
                None => match &host {
                    Some(host) => connection.http.base_url.host().to_string() == *host,
                    None => connection.connector == HTTP_CONNECTOR,
                },
            };
            let connections = connections.iter().filter(fits).map(|connection| connection.id).collect();
            ImportMatch { key: wanted.key.clone(), connections }
        });
        let matches = matches.collect();
        let connectors = report.connectors.iter().map(|wanted| {
            let entry =
                catalogue().iter().find(|entry| entry.connector_id.as_deref() == Some(&wanted.connector_id));
            let is_available = entry.is_some_and(|entry| match entry.status {
                CatalogueStatus::Planned => false,
                CatalogueStatus::NeedsOauthApp => self.oauth_apps().get(&wanted.connector_id).is_some(),
                CatalogueStatus::Available | CatalogueStatus::Beta | CatalogueStatus::Preview => true,
            });
            let name = entry.map_or_else(|| wanted.connector_id.clone(), |entry| entry.name.clone());
            ImportConnector { connector_id: wanted.connector_id.clone(), name, is_available }
        });
        Ok(ImportContext { connectors: connectors.collect(), matches })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_connector_that_a_translation_names_is_in_the_catalogue() {
        for (connector, base_url) in imports::connectors() {
            let entry = catalogue().iter().find(|entry| entry.connector_id.as_deref() == Some(connector));
            let entry = entry.unwrap_or_else(|| panic!("the catalogue has no connector {connector}"));
            if let Some(base_url) = base_url {
                let http = entry.http.as_ref().unwrap_or_else(|| panic!("{connector} has no base URL"));
                assert_eq!(http.base_url, base_url, "{connector}");
            }
        }
    }
}
