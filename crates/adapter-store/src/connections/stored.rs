//! Connections as their rows hold them.

use ::connections::{
    Connection, GateHost, GateStatus,
    auth::Auth,
    connection::{BaseUrl, ConnectionStatus, ConnectionStatusName, ExtraHeader, HttpConnection},
    gates::Method,
};
use kernel::{StoreError, id::kind};
use sea_orm::ActiveValue::{NotSet, Set};
use serde::{Deserialize, Serialize};

use crate::{
    convert::{RowContext, to_json},
    entity::{
        column::{DbId, DbText, DbTime},
        connections,
    },
};

/// Where requests go and how they prove themselves, as the column `http` stores it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredHttp {
    base_url: String,
    /// Host and port of a URL that is a secret as a whole; `base_url` shows less of it.
    host: String,
    port: u16,
    auth: Auth,
    methods: Vec<Method>,
    path_prefix: String,
    headers: Vec<ExtraHeader>,
    test_path: Option<String>,
    testable: bool,
    preset: Option<String>,
}

fn http(row: RowContext, text: &str) -> Result<HttpConnection, StoreError> {
    let stored: StoredHttp = row.json(text)?;
    let host: GateHost = row.parse(&stored.host)?;
    let base_url = if stored.auth == Auth::Url {
        BaseUrl::hidden(host.clone(), stored.port)
    } else {
        BaseUrl::parse(&stored.base_url).map_err(|error| row.error(error))?
    };
    Ok(HttpConnection {
        base_url,
        host,
        auth: stored.auth,
        methods: stored.methods,
        path_prefix: stored.path_prefix,
        headers: stored.headers,
        test_path: stored.test_path,
        testable: stored.testable,
        preset: stored.preset,
    })
}

fn http_text(http: &HttpConnection) -> Result<String, StoreError> {
    to_json(&StoredHttp {
        base_url: http.base_url.as_str().to_owned(),
        host: http.host.as_str().to_owned(),
        port: http.base_url.port(),
        auth: http.auth.clone(),
        methods: http.methods.clone(),
        path_prefix: http.path_prefix.clone(),
        headers: http.headers.clone(),
        test_path: http.test_path.clone(),
        testable: http.testable,
        preset: http.preset.clone(),
    })
}

/// Returns a connection; its gate is in another row, which a disconnected one does not have.
pub(super) fn connection(
    model: connections::Model,
    gate: Option<GateStatus>,
) -> Result<Connection, StoreError> {
    let row = RowContext::new("connections", model.id);
    let since = model.status_since.map(DbTime::into_inner);
    let since = || since.ok_or_else(|| row.error("the status has no time"));
    let status = match model.status.0 {
        ConnectionStatusName::Connected => {
            ConnectionStatus::Connected { auth_failures: row.number(model.auth_failures)? }
        }
        ConnectionStatusName::Expired => ConnectionStatus::Expired { since: since()? },
        ConnectionStatusName::Error => ConnectionStatus::Error { since: since()? },
        ConnectionStatusName::Disconnected => ConnectionStatus::Disconnected { since: since()? },
    };
    Ok(Connection {
        id: model.id.0,
        workspace: model.workspace_id.0,
        status,
        connected_at: model.connected_at.map(DbTime::into_inner),
        key_id: model.key_id,
        secret_version: row.number(model.secret_version)?,
        http: http(row, &model.http)?,
        values: row.json(&model.field_values)?,
        service_account: model.service_account,
        // One that is connected again begins with an open gate.
        gate: gate.unwrap_or(GateStatus::Open),
        created_at: model.created_at.0,
        updated_at: model.updated_at.0,
        revision: row.number(model.revision)?,
        connector: model.connector,
        display_name: model.display_name,
    })
}

/// Returns a connection for a purpose to which its gate does not matter.
pub(crate) fn without_gate(model: connections::Model) -> Result<Connection, StoreError> {
    connection(model, None)
}

/// Returns the row of a connection, with every column set that is the connection's.
pub(super) fn connection_row(connection: &Connection) -> Result<connections::ActiveModel, StoreError> {
    let (auth_failures, _) = status_columns(connection.status);
    Ok(connections::ActiveModel {
        id: Set(DbId::<kind::Connection>(connection.id)),
        workspace_id: Set(DbId(connection.workspace)),
        connector: Set(connection.connector.clone()),
        display_name: Set(connection.display_name.clone()),
        status: Set(DbText(connection.status.name())),
        status_since: Set(status_columns(connection.status).1),
        auth_failures: Set(auth_failures),
        connected_at: Set(connection.connected_at.map(DbTime)),
        key_id: Set(connection.key_id.clone()),
        secret_version: Set(connection.secret_version.into()),
        http: Set(http_text(&connection.http)?),
        field_values: Set(to_json(&connection.values)?),
        service_account: Set(connection.service_account.clone()),
        created_at: Set(DbTime(connection.created_at)),
        updated_at: Set(DbTime(connection.updated_at)),
        revision: Set(connection.revision.into()),
        // Renewals of tokens reserve it; no change of a connection does.
        renewal_until: NotSet,
        last_check: NotSet,
    })
}

/// Space-separated names.
pub(super) fn join_methods(methods: &[Method]) -> String {
    methods.iter().map(|method| method.as_str()).collect::<Vec<_>>().join(" ")
}

/// Returns the columns `auth_failures` and `status_since`.
pub(super) fn status_columns(status: ConnectionStatus) -> (i64, Option<DbTime>) {
    match status {
        ConnectionStatus::Connected { auth_failures } => (auth_failures.into(), None),
        ConnectionStatus::Expired { since }
        | ConnectionStatus::Error { since }
        | ConnectionStatus::Disconnected { since } => (0, Some(DbTime(since))),
    }
}
