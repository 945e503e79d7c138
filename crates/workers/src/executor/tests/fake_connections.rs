//! A store of connections, and fixtures of connections.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, MutexGuard},
};

use connections::{
    Auth, AuthInput, Connection, ConnectionStatus, ConnectionTx, GateStatus, HttpConnection,
    HttpConnectionInput,
    app_secrets::{AppSecret, AppSecretName, AppSecretReader, AppSecretView, SealedAppSecret},
    auth::ClientAuthStyle,
    calls::CallLogEntry,
    connection::{ConnectionUser, HTTP_CONNECTOR, SecretPurpose},
    gates::Method,
    last_check::LastCheck,
    oauth_apps::{OauthApp, OauthApps},
};
use kernel::{
    AuditEntry, SeededRandomness, StoreError, Timestamp, UnitOfWork,
    events::Event,
    id::ConnectionId,
    mail::OutboxEmail,
    vault::{MasterKeys, Vault},
};
use secrecy::SecretString;

use super::{super::*, fixtures::*};

/// Connections, their sealed texts, and what was written. Clones share them.
#[derive(Clone, Default)]
pub(super) struct FakeConnections(Arc<Mutex<Tables>>);

#[derive(Default)]
pub(super) struct Tables {
    pub(super) connections: Vec<Connection>,
    pub(super) sealed: HashMap<(ConnectionId, SecretPurpose), String>,
    pub(super) app_secrets: Vec<SealedAppSecret>,
    pub(super) audited: Vec<String>,
    pub(super) calls: Vec<CallLogEntry>,
    /// Transactions that were begun.
    pub(super) transactions: usize,
    pub(super) is_away: bool,
    pub(super) are_secrets_away: bool,
    /// End of the reservation of a renewal.
    pub(super) renewal_until: Option<Timestamp>,
}

impl FakeConnections {
    pub(super) fn lock(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap()
    }

    /// Adds a connection with a sealed secret.
    pub(super) fn add(&self, connection: Connection, secret: &str) {
        let context = connection.sealing_context(SecretPurpose::Secret);
        let sealed = vault().seal(&SeededRandomness::new(7), &context.parts(), &SecretString::from(secret));
        let mut tables = self.lock();
        tables.sealed.insert((connection.id, SecretPurpose::Secret), sealed);
        tables.connections.push(connection);
    }

    /// Adds a sealed secret of the app.
    pub(super) fn add_app_secret(&self, name: &str, value: &str, clear: bool) {
        let secret = AppSecret {
            workspace: id(1),
            app: id(2),
            name: name.parse().unwrap(),
            hosts: vec!["api.example.com".parse().unwrap()],
            clear,
            version: 1,
            set_at: start(),
            set_by: id(4),
        };
        let context = secret.sealing_context();
        let context = context.each_ref().map(String::as_str);
        let sealed = vault().seal(&SeededRandomness::new(7), &context, &SecretString::from(value));
        self.lock().app_secrets.push(SealedAppSecret { secret, sealed });
    }

    pub(super) fn update(&self, change: impl FnOnce(&mut Connection)) {
        change(&mut self.lock().connections[0]);
    }

    pub(super) fn status(&self) -> ConnectionStatus {
        self.lock().connections[0].status
    }
}

#[async_trait]
impl AppSecretReader for FakeConnections {
    async fn list_app_secrets(&self, _: WorkspaceId, _: AppId) -> Result<Vec<AppSecretView>, StoreError> {
        panic!("runs list no secrets")
    }

    async fn clear_app_secrets(
        &self,
        workspace: WorkspaceId,
        app: AppId,
    ) -> Result<Vec<SealedAppSecret>, StoreError> {
        let tables = self.lock();
        let is_meant = |stored: &&SealedAppSecret| {
            (stored.secret.workspace, stored.secret.app, stored.secret.clear) == (workspace, app, true)
        };
        Ok(tables.app_secrets.iter().filter(is_meant).cloned().collect())
    }

    async fn find_app_secret(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        name: &AppSecretName,
    ) -> Result<Option<SealedAppSecret>, StoreError> {
        let tables = self.lock();
        if tables.are_secrets_away {
            return Err(StoreError::Unavailable("away".into()));
        }
        let is_meant = |stored: &&SealedAppSecret| {
            (stored.secret.workspace, stored.secret.app, &stored.secret.name) == (workspace, app, name)
        };
        Ok(tables.app_secrets.iter().find(is_meant).cloned())
    }
}

/// An OAuth app for the connector of [`crm`].
pub(super) fn oauth_apps() -> OauthApps {
    let app = OauthApp {
        client_id: "client-1".to_owned(),
        client_secret: "secret-of-the-client".into(),
        style: ClientAuthStyle::Body,
        authorize_url: "https://auth.example.com/authorize".parse().unwrap(),
        token_url: "https://auth.example.com/token".parse().unwrap(),
        revocation_url: Some("https://auth.example/revoke".parse().unwrap()),
        issuer: None,
    };
    [(HTTP_CONNECTOR.to_owned(), app)].into_iter().collect()
}

pub(super) fn vault() -> Vault {
    Vault::new(&MasterKeys::new(vec![[1; 32]]).unwrap())
}

/// The connection that the manifest names `crm`.
pub(super) fn crm(auth: AuthInput) -> Connection {
    let input = HttpConnectionInput {
        display_name: "CRM".to_owned(),
        base_url: "https://crm.example.com/v1".to_owned(),
        auth: AuthInput::None {},
        methods: vec![Method::Get, Method::Post],
        path_prefix: Some("/".to_owned()),
        headers: Vec::new(),
        test_path: None,
        testable: true,
        preset: None,
        secret: None,
    };
    Connection {
        id: id(9),
        workspace: id(1),
        connector: HTTP_CONNECTOR.to_owned(),
        display_name: "CRM".to_owned(),
        status: ConnectionStatus::NEW,
        connected_at: Some(start()),
        key_id: Some("00000000".to_owned()),
        secret_version: 1,
        http: HttpConnection { auth: Auth::parse(auth).unwrap(), ..input.validate().unwrap().http },
        values: BTreeMap::new(),
        service_account: None,
        gate: GateStatus::Open,
        created_at: start(),
        updated_at: start(),
        revision: 1,
    }
}

#[async_trait]
impl ConnectionStore for FakeConnections {
    async fn find_connection(
        &self,
        workspace: WorkspaceId,
        connection: ConnectionId,
    ) -> Result<Option<Connection>, StoreError> {
        let tables = self.lock();
        if tables.is_away {
            return Err(StoreError::Unavailable("away".into()));
        }
        let mut own = tables.connections.iter().filter(|known| known.workspace == workspace);
        Ok(own.find(|known| known.id == connection).cloned())
    }

    async fn sealed_secret(
        &self,
        _: WorkspaceId,
        connection: ConnectionId,
        purpose: SecretPurpose,
    ) -> Result<Option<String>, StoreError> {
        Ok(self.lock().sealed.get(&(connection, purpose)).cloned())
    }

    async fn begin_connections(&self) -> Result<Box<dyn ConnectionTx>, StoreError> {
        self.lock().transactions += 1;
        Ok(Box::new(FakeTx(self.clone())))
    }

    async fn add_calls(&self, entries: &[CallLogEntry]) -> Result<(), StoreError> {
        let mut tables = self.lock();
        if tables.is_away {
            return Err(StoreError::Unavailable("away".into()));
        }
        tables.calls.extend_from_slice(entries);
        Ok(())
    }
}

/// Writes at once.
struct FakeTx(FakeConnections);

#[async_trait]
impl UnitOfWork for FakeTx {
    fn audit(&mut self, entry: AuditEntry) {
        self.0.lock().audited.push(entry.action.clone().into_owned());
    }
    fn enqueue_email(&mut self, _: OutboxEmail) {}
    fn publish(&mut self, _: Event) {}
    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }
}

#[async_trait]
impl ConnectionTx for FakeTx {
    async fn connection_for_update(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
    ) -> Result<Option<Connection>, StoreError> {
        self.0.find_connection(workspace, connection).await
    }
    async fn count_connections(&mut self, _: WorkspaceId) -> Result<u64, StoreError> {
        unreachable!("no request counts connections")
    }
    async fn insert_connection(&mut self, _: &Connection) -> Result<(), StoreError> {
        unreachable!("no request makes a connection")
    }
    async fn update_connection(&mut self, _: &Connection) -> Result<(), StoreError> {
        unreachable!("no request changes a connection")
    }
    async fn put_sealed_secret(
        &mut self,
        _: WorkspaceId,
        connection: ConnectionId,
        purpose: SecretPurpose,
        sealed: &str,
    ) -> Result<(), StoreError> {
        self.0.lock().sealed.insert((connection, purpose), sealed.to_owned());
        Ok(())
    }
    async fn sealed_secret_for_update(
        &mut self,
        _: WorkspaceId,
        _: ConnectionId,
        _: SecretPurpose,
    ) -> Result<Option<String>, StoreError> {
        unreachable!("no request disconnects")
    }
    async fn delete_sealed_secrets(
        &mut self,
        _: WorkspaceId,
        _: ConnectionId,
        _: &[SecretPurpose],
    ) -> Result<(), StoreError> {
        unreachable!("no request deletes secrets")
    }
    async fn set_connection_status(
        &mut self,
        _: WorkspaceId,
        _: ConnectionId,
        status: ConnectionStatus,
    ) -> Result<(), StoreError> {
        self.0.update(|connection| connection.status = status);
        Ok(())
    }
    async fn reserve_renewal(
        &mut self,
        _: WorkspaceId,
        _: ConnectionId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tables = self.0.lock();
        let is_free = tables.renewal_until.is_none_or(|reserved| reserved <= now);
        if is_free {
            tables.renewal_until = Some(until);
        }
        Ok(is_free)
    }
    async fn release_renewal(&mut self, _: WorkspaceId, _: ConnectionId) -> Result<(), StoreError> {
        self.0.lock().renewal_until = None;
        Ok(())
    }
    async fn set_connection_gate(
        &mut self,
        _: WorkspaceId,
        _: ConnectionId,
        _: GateStatus,
    ) -> Result<(), StoreError> {
        unreachable!("no request opens or closes a gate")
    }
    async fn set_last_check(
        &mut self,
        _: WorkspaceId,
        _: ConnectionId,
        _: &LastCheck,
    ) -> Result<(), StoreError> {
        unreachable!("the executor keeps no test")
    }
    async fn connection_users(
        &mut self,
        _: WorkspaceId,
        _: ConnectionId,
    ) -> Result<Vec<ConnectionUser>, StoreError> {
        unreachable!("no request asks for users")
    }
}
