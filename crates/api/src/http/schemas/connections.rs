//! Types of `connections`.

#![expect(dead_code, reason = "described, never created")]

use serde::Deserialize;
use utoipa::ToSchema;

use super::enumeration::enumerations;

enumerations! {
    /// The status of a gate.
    GateStatus: connections::GateStatus;
    /// How a connection was tested.
    Checked: connections::connection_test::Checked;
    /// The status of a connection.
    ConnectionStatus: connections::connection::ConnectionStatusName;
    /// Kind of secret of a connector.
    ConnectorAuth: connections::catalogue::CatalogueAuth;
    /// Category of a connector.
    ConnectorCategory: connections::catalogue::CatalogueCategory;
    /// Group of connectors.
    ConnectorGroup: connections::catalogue::CatalogueGroup;
    /// Region for which a connector is meant.
    ConnectorRegion: connections::catalogue::CatalogueRegion;
    /// Whether a connection to a connector can be made.
    ConnectorStatus: connections::catalogue::CatalogueStatus;
    /// Form of a value.
    FieldForm: connections::catalogue::FieldForm;
    /// Place of a key in a request.
    KeyPlace: connections::auth::KeyPlace;
    /// Way in which a client proves itself to a token endpoint.
    ClientAuthStyle: connections::auth::ClientAuthStyle;
    /// An HTTP method that a gate can allow. `CONNECT` and `TRACE` are never allowed.
    Method: connections::gates::Method;
}

/// How requests through a connection prove themselves.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
#[schema(example = json!({"type": "bearer"}))]
pub(crate) enum ConnectionAuth {
    /// Not at all.
    None {},
    /// `Authorization: Bearer SECRET`.
    Bearer {
        /// Word in place of `Bearer`.
        #[serde(default)]
        #[schema(max_length = 64)]
        prefix: Option<String>,
    },
    /// `Authorization: Basic`, with the secret as the password (RFC 7617).
    Basic {
        /// User name, without a colon. With `{secret}` the secret is the user name, and the password is `X`.
        #[schema(max_length = 256)]
        username: String,
    },
    /// The secret in one header or one parameter of the query.
    ApiKey {
        #[serde(rename = "in")]
        #[schema(value_type = KeyPlace)]
        place: connections::auth::KeyPlace,
        /// Name of the header or parameter.
        #[schema(min_length = 1, max_length = 64)]
        name: String,
        /// Text before the secret; in a header, a space follows it.
        #[serde(default)]
        #[schema(max_length = 64)]
        prefix: Option<String>,
    },
    /// Several headers. The secret is a JSON object with a text for each name.
    Headers {
        #[schema(value_type = Vec<HeaderName>, min_items = 1, max_items = 4)]
        names: Vec<String>,
    },
    /// The secret takes the place of `{secret}` in the path of the base URL.
    PathToken {},
    /// Access tokens for an assertion that the key of a service account signs (RFC 7523). The secret is the key as JSON.
    ServiceAccount {
        /// Token endpoint.
        #[serde(rename = "tokenUrl")]
        #[schema(min_length = 9, max_length = 700)]
        token_url: String,
        #[schema(value_type = Vec<OauthScope>, max_items = 32)]
        scopes: Vec<String>,
        /// Audience of the assertion. Default: the token endpoint.
        #[serde(default)]
        #[schema(min_length = 1, max_length = 512)]
        audience: Option<String>,
        /// Person for whom the service account acts.
        #[serde(default)]
        #[schema(min_length = 1, max_length = 512)]
        subject: Option<String>,
    },
    /// Access tokens for the client itself (RFC 6749, section 4.4). The secret is the client's.
    #[serde(rename = "oauth2_client_credentials")]
    ClientCredentials {
        /// Token endpoint.
        #[serde(rename = "tokenUrl")]
        #[schema(min_length = 9, max_length = 700)]
        token_url: String,
        #[serde(rename = "clientId")]
        #[schema(min_length = 1, max_length = 256)]
        client_id: String,
        #[schema(value_type = Vec<OauthScope>, max_items = 32)]
        scopes: Vec<String>,
        #[schema(value_type = ClientAuthStyle)]
        style: connections::auth::ClientAuthStyle,
    },
    /// The whole URL is the secret. Only connectors of the catalogue have it.
    Url {},
    /// Access tokens that a person allowed in a browser. Only connectors of the catalogue have it.
    #[serde(rename = "oauth2_code")]
    AuthorizationCode {},
}

/// Name of a header.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(min_length = 1, max_length = 64)]
pub(crate) struct HeaderName(String);

/// A scope of an access token (RFC 6749, section 3.3).
#[derive(Debug, Deserialize, ToSchema)]
#[schema(min_length = 1, max_length = 256)]
pub(crate) struct OauthScope(String);

/// A header that is added to every request.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtraHeader {
    #[schema(min_length = 1, max_length = 64)]
    name: String,
    #[schema(min_length = 1, max_length = 512)]
    value: String,
}
