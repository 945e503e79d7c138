//! The manifest of a request, in which a connector may stand in place of a connection.

use std::borrow::Cow;

use serde::Deserialize;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{RefOr, Schema},
};

use super::{ConnectorPermission, HttpMethod, Manifest, Permissions};

/// Describes a type as another one, with a reference to a third replaced.
macro_rules! described_as {
    ($($name:ident: $known:ident with $new:ident in place of $old:literal;)+) => {$(
        pub(crate) struct $name;

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                replace_reference($known::schema(), $old, stringify!($new))
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
                $known::schemas(schemas);
                schemas.push(($new::name().into_owned(), $new::schema()));
                $new::schemas(schemas);
            }
        }
    )+};
}

described_as! {
    NewManifest: Manifest with NewPermissions in place of "Permissions";
    NewPermissions: Permissions with NewConnectorPermission in place of "ConnectorPermission";
}

/// An external service that an app may use, by its connection or by its connector.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum NewConnectorPermission {
    Connection(ConnectorPermission),
    Connector(ConnectorByName),
}

/// An external service that an app may use, by its connector. The version has the connection in its place.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ConnectorByName {
    /// Name in the code: a JavaScript identifier of at most 40 ASCII letters, digits and `_`.
    #[schema(pattern = "^[A-Za-z_][A-Za-z0-9_]{0,39}$")]
    name: String,
    /// Connector, of which the workspace has one connection, or the current version has one by this name.
    connector_id: String,
    /// Methods that the app may use, of those that the connection allows; all by default.
    #[serde(default)]
    #[schema(min_items = 1)]
    methods: Option<Vec<HttpMethod>>,
    /// Paths below the connection's base URL that the app may use, with all below them; all by default.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 16)]
    paths: Option<Vec<String>>,
}

fn replace_reference(schema: RefOr<Schema>, from: &str, to: &str) -> RefOr<Schema> {
    let reference = |name: &str| format!("\"#/components/schemas/{name}\"");
    let text = serde_json::to_string(&schema).map(|text| text.replace(&reference(from), &reference(to)));
    text.and_then(|text| serde_json::from_str(&text)).unwrap_or(schema)
}
