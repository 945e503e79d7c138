//! An in-memory store and fixtures for the tests of this crate's use cases.
//!
//! Callers are members of [`workspace()`]; unless a test says otherwise, everything happens there.

use std::collections::BTreeMap;

use async_trait::async_trait;
use kernel::{
    Context, StoreError, Timestamp, delegate_unit_of_work,
    id::{GateId, WorkspaceId},
    page::PageRequest,
    testing::{RecordingUnitOfWork, at, context, id, session_of},
};

use crate::{
    auth::AuthInput,
    connection::{BaseUrl, Connection, ConnectionStatus, HTTP_CONNECTOR, HttpConnectionInput},
    gates::{Gate, GateReader, GateStatus, GateTx, GateView, Method},
};

/// A store whose tables are plain collections.
#[derive(Debug, Default)]
pub(crate) struct FakeStore {
    pub(crate) work: RecordingUnitOfWork,
    pub(crate) gates: Vec<Gate>,
    /// Refusals of requests to a gate's host.
    pub(crate) refusals: Vec<(GateId, Timestamp)>,
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
