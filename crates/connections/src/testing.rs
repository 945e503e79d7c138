//! An in-memory store and fixtures for the tests of this crate's use cases.
//!
//! Callers are members of [`workspace()`]; unless a test says otherwise, everything happens there.

use std::collections::{BTreeMap, HashMap};

use async_trait::async_trait;
use kernel::{
    Context, StoreError, Timestamp,
    authority::{Admin, AppAdmin, AppFact, AppRights, Role, Sharing, authorize_app},
    delegate_unit_of_work,
    id::{AppId, ConnectionId, GateId, WorkspaceId},
    page::PageRequest,
    testing::{RecordingUnitOfWork, at, context, id, member, session_of},
    vault::{MasterKeys, Vault},
};

use crate::{
    app_secrets::{AppSecret, AppSecretName, AppSecretTx, SealedAppSecret},
    auth::{AuthInput, ClientAuthStyle},
    connection::{
        BaseUrl, Connection, ConnectionHealth, ConnectionStatus, ConnectionUser, ConnectionView,
        HTTP_CONNECTOR, HttpConnectionInput, SecretPurpose,
    },
    connections::{ConnectionReader, ConnectionTx},
    gates::{Gate, GateReader, GateStatus, GateTx, GateView, Method},
    last_check::LastCheck,
    oauth_apps::{OauthApp, OauthApps},
};

/// A store whose tables are plain collections.
#[derive(Debug, Default)]
pub(crate) struct FakeStore {
    pub(crate) work: RecordingUnitOfWork,
    pub(crate) gates: Vec<Gate>,
    /// Refusals of requests to a gate's host.
    pub(crate) refusals: Vec<(GateId, Timestamp)>,
    pub(crate) connections: Vec<Connection>,
    /// Sealed texts of connections.
    pub(crate) sealed: HashMap<(ConnectionId, SecretPurpose), String>,
    /// Ends of reserved renewals.
    pub(crate) renewals: HashMap<ConnectionId, Timestamp>,
    /// Apps that use a connection.
    pub(crate) users: Vec<(ConnectionId, ConnectionUser)>,
    pub(crate) app_secrets: Vec<SealedAppSecret>,
    pub(crate) is_app_deleted: bool,
}

delegate_unit_of_work!(FakeStore, work);

impl FakeStore {
    /// A store that holds these gates.
    pub(crate) fn with_gates(gates: impl IntoIterator<Item = Gate>) -> Self {
        Self { gates: gates.into_iter().collect(), ..Self::default() }
    }
}

impl FakeStore {
    fn view_of(&self, gate: &Gate, blocked_since: Timestamp) -> GateView {
        let is_counted = |(of, at): &&(GateId, Timestamp)| *of == gate.id && *at >= blocked_since;
        let blocked_24h = self.refusals.iter().filter(is_counted).count() as u64;
        GateView { blocked_24h, apps: Vec::new(), gate: gate.clone() }
    }
}

#[async_trait]
impl GateReader for FakeStore {
    async fn list(
        &self,
        workspace: WorkspaceId,
        blocked_since: Timestamp,
        page: PageRequest,
    ) -> Result<Vec<GateView>, StoreError> {
        let own = self.gates.iter().filter(|gate| gate.workspace == workspace);
        let rest = own.filter(|gate| page.after.is_none_or(|after| gate.id.uuid() > after));
        let mut views: Vec<GateView> = rest.map(|gate| self.view_of(gate, blocked_since)).collect();
        views.sort_by_key(|view| view.gate.id);
        views.truncate(page.limit as usize + 1);
        Ok(views)
    }

    async fn view(
        &self,
        workspace: WorkspaceId,
        gate: GateId,
        blocked_since: Timestamp,
    ) -> Result<Option<GateView>, StoreError> {
        let found = self.gates.iter().find(|known| known.workspace == workspace && known.id == gate);
        Ok(found.map(|gate| self.view_of(gate, blocked_since)))
    }

    async fn gate_scope(&self, gate: GateId) -> Result<Option<WorkspaceId>, StoreError> {
        Ok(self.gates.iter().find(|known| known.id == gate).map(|gate| gate.workspace))
    }

    async fn gates(&self, workspace: WorkspaceId) -> Result<Vec<Gate>, StoreError> {
        Ok(self.gates.iter().filter(|gate| gate.workspace == workspace).cloned().collect())
    }

    async fn open_gates(&self, workspace: WorkspaceId) -> Result<Vec<Gate>, StoreError> {
        let is_open = |gate: &&Gate| gate.workspace == workspace && gate.status == GateStatus::Open;
        Ok(self.gates.iter().filter(is_open).cloned().collect())
    }
}

#[async_trait]
impl GateTx for FakeStore {
    async fn gate(&mut self, workspace: WorkspaceId, gate: GateId) -> Result<Option<Gate>, StoreError> {
        Ok(self.gates.iter().find(|known| known.workspace == workspace && known.id == gate).cloned())
    }

    async fn insert_gate(&mut self, gate: &Gate) -> Result<(), StoreError> {
        if self.gates.iter().any(|known| known.workspace == gate.workspace && known.host == gate.host) {
            return Err(StoreError::Duplicate);
        }
        self.gates.push(gate.clone());
        Ok(())
    }

    async fn count_gates(&mut self, workspace: WorkspaceId) -> Result<u32, StoreError> {
        let own = |gate: &&Gate| gate.workspace == workspace && gate.connection.is_none();
        Ok(self.gates.iter().filter(own).count().try_into().unwrap_or(u32::MAX))
    }

    async fn delete_gate(&mut self, workspace: WorkspaceId, gate: GateId) -> Result<(), StoreError> {
        self.gates.retain(|known| known.workspace != workspace || known.id != gate);
        Ok(())
    }

    async fn set_gate_status(
        &mut self,
        workspace: WorkspaceId,
        gate: GateId,
        status: GateStatus,
    ) -> Result<(), StoreError> {
        let mut gates = self.gates.iter_mut();
        if let Some(gate) = gates.find(|known| known.workspace == workspace && known.id == gate) {
            gate.status = status;
        }
        Ok(())
    }
}

pub(crate) fn workspace() -> WorkspaceId {
    id(3)
}

/// A request of person 2, two days after the fixtures were created.
pub(crate) fn request() -> Context {
    context(session_of(id(2)), at(2 * 24 * 60 * 60 * 1_000))
}

/// A gate that lets GET requests to `host` through.
pub(crate) fn open_gate(number: u128, host: &str) -> Gate {
    Gate {
        id: id(number),
        workspace: workspace(),
        name: host.to_owned(),
        host: host.parse().unwrap(),
        methods: vec![Method::Get],
        connection: None,
        status: GateStatus::Open,
        created_at: at(0),
    }
}

/// A valid description of a connection with a bearer token.
pub(crate) fn http_input() -> HttpConnectionInput {
    HttpConnectionInput {
        display_name: "CRM".to_owned(),
        base_url: "https://api.example.com".to_owned(),
        auth: AuthInput::Bearer { prefix: None },
        methods: vec![Method::Get, Method::Post],
        path_prefix: None,
        headers: Vec::new(),
        test_path: None,
        testable: true,
        preset: None,
        secret: Some("s3cret-of-the-crm".into()),
    }
}

/// A connection with a bearer token, which may use GET and POST.
pub(crate) fn http_connection(number: u128, base_url: &str) -> Connection {
    let mut http = http_input().validate().unwrap().http;
    http.base_url = BaseUrl::parse(base_url).unwrap();
    http.host = http.base_url.host().clone();
    Connection {
        id: id(number),
        workspace: workspace(),
        connector: HTTP_CONNECTOR.to_owned(),
        display_name: "CRM".to_owned(),
        status: ConnectionStatus::NEW,
        connected_at: Some(at(0)),
        key_id: Some("00000000".to_owned()),
        secret_version: 1,
        http,
        values: BTreeMap::new(),
        service_account: None,
        gate: GateStatus::Open,
        created_at: at(0),
        updated_at: at(0),
        revision: 1,
    }
}

/// An OAuth app for one connector of the catalogue, `gmail`.
pub(crate) fn oauth_apps() -> OauthApps {
    let app = OauthApp {
        client_id: "client-1".to_owned(),
        client_secret: "secret-of-the-client".into(),
        style: ClientAuthStyle::Body,
        authorize_url: "https://auth.example/authorize".parse().unwrap(),
        token_url: "https://auth.example/token".parse().unwrap(),
        revocation_url: Some("https://auth.example/revoke".parse().unwrap()),
        issuer: None,
    };
    [("gmail".to_owned(), app)].into_iter().collect()
}

/// The proof that the caller of a request is an admin of [`workspace()`].
pub(crate) fn admin(ctx: &Context) -> Admin {
    member(ctx, workspace(), Role::Admin).require_admin().unwrap()
}

/// The proof that the caller of a request is an admin of [`workspace()`], which has the app 5.
pub(crate) fn app_admin(ctx: &Context) -> AppAdmin {
    let fact = AppFact {
        app: id(5),
        workspace: workspace(),
        created_by: id(8),
        sharing: Sharing::Private,
        granted: AppRights::NONE,
    };
    let member = member(ctx, workspace(), Role::Admin);
    authorize_app(member, Some(&fact)).unwrap().require_admin().unwrap()
}

/// A vault with one key.
pub(crate) fn vault() -> Vault {
    Vault::new(&MasterKeys::new(vec![[1; 32]]).unwrap())
}

impl FakeStore {
    /// The store with a sealed secret of this connection.
    pub(crate) fn with_sealed(mut self, number: u128) -> Self {
        self.sealed.insert((id(number), SecretPurpose::Secret), "sealed".to_owned());
        self
    }

    fn connection_view(&self, connection: &Connection) -> ConnectionView {
        let used_by = self.users.iter().filter(|(id, _)| *id == connection.id).map(|(_, user)| user.clone());
        let health = ConnectionHealth::default();
        ConnectionView { health, used_by: used_by.collect(), ..ConnectionView::bare(connection.clone()) }
    }

    fn own_connection(&self, workspace: WorkspaceId, id: ConnectionId) -> Option<&Connection> {
        self.connections.iter().find(|known| known.workspace == workspace && known.id == id)
    }
}

#[async_trait]
impl ConnectionReader for FakeStore {
    async fn list_connections(
        &self,
        workspace: WorkspaceId,
        _since: Timestamp,
        page: PageRequest,
    ) -> Result<Vec<ConnectionView>, StoreError> {
        let own = self.connections.iter().filter(|known| known.workspace == workspace);
        let rest = own.filter(|known| page.after.is_none_or(|after| known.id.uuid() > after));
        let mut views: Vec<ConnectionView> = rest.map(|known| self.connection_view(known)).collect();
        views.sort_by_key(|view| view.connection.id);
        views.truncate(page.limit as usize + 1);
        Ok(views)
    }

    async fn view_connection(
        &self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        _since: Timestamp,
    ) -> Result<Option<ConnectionView>, StoreError> {
        Ok(self.own_connection(workspace, connection).map(|known| self.connection_view(known)))
    }

    async fn find_connection(
        &self,
        workspace: WorkspaceId,
        connection: ConnectionId,
    ) -> Result<Option<Connection>, StoreError> {
        Ok(self.own_connection(workspace, connection).cloned())
    }

    async fn connection_scope(&self, connection: ConnectionId) -> Result<Option<WorkspaceId>, StoreError> {
        Ok(self.connections.iter().find(|known| known.id == connection).map(|known| known.workspace))
    }

    async fn sealed_secret(
        &self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        purpose: SecretPurpose,
    ) -> Result<Option<String>, StoreError> {
        let known = self.own_connection(workspace, connection);
        Ok(known.and_then(|known| self.sealed.get(&(known.id, purpose))).cloned())
    }
}

#[async_trait]
impl ConnectionTx for FakeStore {
    async fn connection_for_update(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
    ) -> Result<Option<Connection>, StoreError> {
        Ok(self.own_connection(workspace, connection).cloned())
    }

    async fn count_connections(&mut self, workspace: WorkspaceId) -> Result<u64, StoreError> {
        Ok(self.connections.iter().filter(|known| known.workspace == workspace).count() as u64)
    }

    async fn insert_connection(&mut self, connection: &Connection) -> Result<(), StoreError> {
        self.connections.push(connection.clone());
        Ok(())
    }

    async fn update_connection(&mut self, connection: &Connection) -> Result<(), StoreError> {
        if let Some(known) = self.connections.iter_mut().find(|known| known.id == connection.id) {
            *known = connection.clone();
        }
        Ok(())
    }

    async fn put_sealed_secret(
        &mut self,
        _workspace: WorkspaceId,
        connection: ConnectionId,
        purpose: SecretPurpose,
        sealed: &str,
    ) -> Result<(), StoreError> {
        self.sealed.insert((connection, purpose), sealed.to_owned());
        Ok(())
    }

    async fn sealed_secret_for_update(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        purpose: SecretPurpose,
    ) -> Result<Option<String>, StoreError> {
        self.sealed_secret(workspace, connection, purpose).await
    }

    async fn delete_sealed_secrets(
        &mut self,
        _workspace: WorkspaceId,
        connection: ConnectionId,
        purposes: &[SecretPurpose],
    ) -> Result<(), StoreError> {
        self.sealed.retain(|(id, purpose), _| *id != connection || !purposes.contains(purpose));
        Ok(())
    }

    async fn set_connection_status(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        status: ConnectionStatus,
    ) -> Result<(), StoreError> {
        let mut own = self.connections.iter_mut().filter(|known| known.workspace == workspace);
        if let Some(known) = own.find(|known| known.id == connection) {
            known.status = status;
        }
        Ok(())
    }

    async fn reserve_renewal(
        &mut self,
        _: WorkspaceId,
        connection: ConnectionId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let is_free = self.renewals.get(&connection).is_none_or(|reserved| *reserved <= now);
        if is_free {
            self.renewals.insert(connection, until);
        }
        Ok(is_free)
    }

    async fn set_last_check(
        &mut self,
        _: WorkspaceId,
        _: ConnectionId,
        _: &LastCheck,
    ) -> Result<(), StoreError> {
        unreachable!("no use case of this crate tests a connection")
    }

    async fn release_renewal(&mut self, _: WorkspaceId, connection: ConnectionId) -> Result<(), StoreError> {
        self.renewals.remove(&connection);
        Ok(())
    }

    async fn set_connection_gate(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        status: GateStatus,
    ) -> Result<(), StoreError> {
        let mut own = self.connections.iter_mut().filter(|known| known.workspace == workspace);
        if let Some(known) = own.find(|known| known.id == connection) {
            known.gate = status;
        }
        Ok(())
    }

    async fn connection_users(
        &mut self,
        _workspace: WorkspaceId,
        connection: ConnectionId,
    ) -> Result<Vec<ConnectionUser>, StoreError> {
        Ok(self.users.iter().filter(|(id, _)| *id == connection).map(|(_, user)| user.clone()).collect())
    }
}

#[async_trait]
impl AppSecretTx for FakeStore {
    async fn app_secrets_for_update(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
    ) -> Result<Option<Vec<AppSecret>>, StoreError> {
        let stored = self.app_secrets.iter().map(|stored| &stored.secret);
        let own = stored.filter(|secret| secret.workspace == workspace && secret.app == app).cloned();
        Ok((!self.is_app_deleted).then(|| own.collect()))
    }

    async fn put_app_secret(&mut self, secret: &SealedAppSecret) -> Result<(), StoreError> {
        let SealedAppSecret { secret: AppSecret { workspace, app, name, .. }, .. } = secret;
        self.delete_app_secret(*workspace, *app, name).await?;
        self.app_secrets.push(secret.clone());
        Ok(())
    }

    async fn delete_app_secret(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        name: &AppSecretName,
    ) -> Result<(), StoreError> {
        self.app_secrets.retain(|SealedAppSecret { secret, .. }| {
            secret.workspace != workspace || secret.app != app || secret.name != *name
        });
        Ok(())
    }
}
