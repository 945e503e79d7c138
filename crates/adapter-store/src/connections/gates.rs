//! The ports of gates.

use std::collections::HashMap;

use ::apps::Manifest;
use ::connections::{Gate, GateHost, GateReader, GateStatus, GateTx, gates::GateView};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{AppId, GateId, WorkspaceId, kind},
    page::PageRequest,
};
use sea_orm::{
    ActiveValue::Set, ColumnTrait as _, DerivePartialModel, EntityTrait as _, JoinType, PaginatorTrait as _,
    QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _, RelationTrait as _,
    sea_query::Expr,
};

use super::{calls::calls_of_day, connection::users_of, stored::join_methods};
use crate::{
    convert::RowContext,
    entity::{
        app_versions, apps,
        column::{DbId, DbText, DbTime},
        gates,
    },
    error::OrStoreError as _,
    store::Store,
    tx::StoreTx,
};

fn gate(model: gates::Model) -> Result<Gate, StoreError> {
    let row = RowContext::new("gates", model.id);
    Ok(Gate {
        id: model.id.0,
        workspace: model.workspace_id.0,
        host: model.host.0,
        methods: model
            .methods
            .split_ascii_whitespace()
            .map(|method| row.parse(method))
            .collect::<Result<_, _>>()?,
        connection: model.connection_id.map(DbId::into_inner),
        status: model.status.0,
        created_at: model.created_at.0,
        name: model.name,
    })
}

#[span_macros::traced]
#[async_trait]
impl GateReader for Store {
    async fn list(
        &self,
        workspace: WorkspaceId,
        blocked_since: Timestamp,
        page: PageRequest,
    ) -> Result<Vec<GateView>, StoreError> {
        let found = gates::Entity::find()
            .filter(gates::Column::WorkspaceId.eq(DbId(workspace)))
            .apply_if(page.after, |query, after| query.filter(gates::Column::Id.gt(after)))
            .order_by_asc(gates::Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        self.views(workspace, found, blocked_since).await
    }

    async fn view(
        &self,
        workspace: WorkspaceId,
        gate: GateId,
        blocked_since: Timestamp,
    ) -> Result<Option<GateView>, StoreError> {
        let found = gates::Entity::find_by_id(gate)
            .filter(gates::Column::WorkspaceId.eq(DbId(workspace)))
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(self.views(workspace, found.into_iter().collect(), blocked_since).await?.pop())
    }

    async fn gate_scope(&self, gate: GateId) -> Result<Option<WorkspaceId>, StoreError> {
        let found = gates::Entity::find_by_id(gate).one(self.read()).await.or_store_error()?;
        Ok(found.map(|model| model.workspace_id.0))
    }

    async fn gates(&self, workspace: WorkspaceId) -> Result<Vec<Gate>, StoreError> {
        let found = gates::Entity::find()
            .filter(gates::Column::WorkspaceId.eq(DbId(workspace)))
            .order_by_asc(gates::Column::Id)
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(gate).collect()
    }

    async fn open_gates(&self, workspace: WorkspaceId) -> Result<Vec<Gate>, StoreError> {
        let found = gates::Entity::find()
            .filter(gates::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(gates::Column::Status.eq(DbText(GateStatus::Open)))
            // A connection is reached by its name only.
            .filter(gates::Column::ConnectionId.is_null())
            .order_by_asc(gates::Column::Id)
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(gate).collect()
    }
}

/// The manifest of an app's current version, as JSON.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "app_versions::Entity")]
struct AppManifestRow {
    id: DbId<kind::Version>,
    app_id: DbId<kind::App>,
    manifest: String,
}

impl Store {
    /// Adds to gates of a workspace the apps that declare their hosts, and their refusals since a time.
    async fn views(
        &self,
        workspace: WorkspaceId,
        found: Vec<gates::Model>,
        blocked_since: Timestamp,
    ) -> Result<Vec<GateView>, StoreError> {
        let gates = found.into_iter().map(gate).collect::<Result<Vec<_>, _>>()?;
        if gates.is_empty() {
            return Ok(Vec::new());
        }
        let mut apps = self.apps_by_host(workspace).await?;
        let mut users = match gates.iter().any(|gate| gate.connection.is_some()) {
            true => users_of(self.read(), workspace).await?,
            false => HashMap::new(),
        };
        let mut apps_of = |gate: &Gate| match gate.connection {
            None => apps.remove(&gate.host).unwrap_or_default(),
            Some(connection) => {
                users.remove(&connection).unwrap_or_default().into_iter().map(|user| user.app).collect()
            }
        };
        let mut views: Vec<GateView> =
            gates.into_iter().map(|gate| GateView { apps: apps_of(&gate), gate, blocked_24h: 0 }).collect();
        let ids: Vec<GateId> = views.iter().map(|view| view.gate.id).collect();
        let calls = calls_of_day(self.read(), &ids, blocked_since).await?;
        for view in &mut views {
            view.blocked_24h = calls.get(&view.gate.id).map_or(0, |sum| sum.counts.blocked);
        }
        Ok(views)
    }

    /// Returns the apps of a workspace by the outside hosts that their current versions declare.
    async fn apps_by_host(
        &self,
        workspace: WorkspaceId,
    ) -> Result<HashMap<GateHost, Vec<AppId>>, StoreError> {
        let found = app_versions::Entity::find()
            .join(JoinType::InnerJoin, app_versions::Relation::CurrentOf.def())
            .filter(apps::Column::DeletedAt.is_null())
            .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
            .order_by_asc(apps::Column::Id)
            .into_partial_model::<AppManifestRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        let mut apps: HashMap<GateHost, Vec<AppId>> = HashMap::new();
        for found in found {
            let row = RowContext::new("app_versions", found.id);
            let manifest: Manifest = row.json(&found.manifest)?;
            for egress in &manifest.permissions.egress {
                // A name that no gate can lead to is no gate's business.
                let Ok(host) = GateHost::parse(&egress.host) else { continue };
                let declaring = apps.entry(host).or_default();
                if declaring.last() != Some(&found.app_id.0) {
                    declaring.push(found.app_id.0);
                }
            }
        }
        Ok(apps)
    }
}

#[span_macros::traced]
#[async_trait]
impl GateTx for StoreTx {
    async fn gate(&mut self, workspace: WorkspaceId, id: GateId) -> Result<Option<Gate>, StoreError> {
        let found = gates::Entity::find_by_id(id)
            .filter(gates::Column::WorkspaceId.eq(DbId(workspace)))
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(gate).transpose()
    }

    async fn insert_gate(&mut self, gate: &Gate) -> Result<(), StoreError> {
        let row = gates::ActiveModel {
            id: Set(DbId(gate.id)),
            workspace_id: Set(DbId(gate.workspace)),
            name: Set(gate.name.clone()),
            host: Set(DbText(gate.host.clone())),
            methods: Set(join_methods(&gate.methods)),
            connection_id: Set(gate.connection.map(DbId)),
            status: Set(DbText(gate.status)),
            created_at: Set(DbTime(gate.created_at)),
        };
        gates::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn count_gates(&mut self, workspace: WorkspaceId) -> Result<u32, StoreError> {
        self.lock_workspace(workspace).await?;
        let count = gates::Entity::find()
            .filter(gates::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(gates::Column::ConnectionId.is_null())
            .count(self.read())
            .await
            .or_store_error()?;
        Ok(count.try_into().unwrap_or(u32::MAX))
    }

    async fn delete_gate(&mut self, workspace: WorkspaceId, id: GateId) -> Result<(), StoreError> {
        gates::Entity::delete_many()
            .filter(gates::Column::Id.eq(DbId(id)))
            .filter(gates::Column::WorkspaceId.eq(DbId(workspace)))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn set_gate_status(
        &mut self,
        workspace: WorkspaceId,
        id: GateId,
        status: GateStatus,
    ) -> Result<(), StoreError> {
        gates::Entity::update_many()
            .col_expr(gates::Column::Status, Expr::value(DbText(status)))
            .filter(gates::Column::Id.eq(DbId(id)))
            .filter(gates::Column::WorkspaceId.eq(DbId(workspace)))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }
}
