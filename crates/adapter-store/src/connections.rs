//! The ports of `connections`.

use std::collections::HashMap;

use ::apps::Manifest;
use ::connections::{
    Gate, GateHost, GateReader, GateStatus, GateTx,
    gates::{GateView, Method},
};
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    id::{AppId, GateId, WorkspaceId},
};
use observability::{LogLevel, LogSource};
use sea_orm::{
    ActiveValue::Set, ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _, sea_query::Expr,
};

use crate::{
    Store, StoreTx,
    convert::{RowContext, millis},
    entity::gates,
    error::OrStoreError as _,
    observability::escape_like,
    sql::{Sql, column, statement_chunks},
};

fn gate(model: gates::Model) -> Result<Gate, StoreError> {
    let row = RowContext { table: "gates", id: model.id };
    Ok(Gate {
        id: Id::from_uuid(model.id),
        workspace: Id::from_uuid(model.workspace_id),
        host: row.parse(&model.host)?,
        methods: model
            .methods
            .split_ascii_whitespace()
            .map(|method| row.parse(method))
            .collect::<Result<_, _>>()?,
        connection: model.connection_id.map(Id::from_uuid),
        status: row.parse(&model.status)?,
        created_at: row.timestamp(model.created_at)?,
        name: model.name,
    })
}

/// Space-separated names.
fn join_methods(methods: &[Method]) -> String {
    methods.iter().map(|method| method.as_str()).collect::<Vec<_>>().join(" ")
}

#[async_trait]
impl GateReader for Store {
    async fn list(
        &self,
        workspace: WorkspaceId,
        blocked_since: Timestamp,
    ) -> Result<Vec<GateView>, StoreError> {
        let found = gates::Entity::find()
            .filter(gates::Column::WorkspaceId.eq(workspace.uuid()))
            .order_by_asc(gates::Column::Id)
            .all(self.read())
            .await
            .or_store_error()?;
        let gates = found.into_iter().map(gate).collect::<Result<Vec<_>, _>>()?;
        if gates.is_empty() {
            return Ok(Vec::new());
        }
        let mut apps = self.apps_by_host(workspace).await?;
        let mut views: Vec<GateView> = gates
            .into_iter()
            .map(|gate| GateView { apps: apps.remove(&gate.host).unwrap_or_default(), gate, blocked_24h: 0 })
            .collect();
        let refusals = self.refusals(&views, blocked_since).await?;
        for view in &mut views {
            view.blocked_24h = refusals.get(&view.gate.id).copied().unwrap_or_default();
        }
        Ok(views)
    }

    async fn gate_scope(&self, gate: GateId) -> Result<Option<WorkspaceId>, StoreError> {
        let found = gates::Entity::find_by_id(gate.uuid()).one(self.read()).await.or_store_error()?;
        Ok(found.map(|model| Id::from_uuid(model.workspace_id)))
    }

    async fn open_gates(&self, workspace: WorkspaceId) -> Result<Vec<Gate>, StoreError> {
        let found = gates::Entity::find()
            .filter(gates::Column::WorkspaceId.eq(workspace.uuid()))
            .filter(gates::Column::Status.eq(GateStatus::Open.as_str()))
            .order_by_asc(gates::Column::Id)
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(gate).collect()
    }
}

impl Store {
    /// Which apps of a workspace declare which outside hosts, as their current versions have it.
    async fn apps_by_host(
        &self,
        workspace: WorkspaceId,
    ) -> Result<HashMap<GateHost, Vec<AppId>>, StoreError> {
        let mut sql = Sql::new(
            "SELECT a.id, v.id, v.manifest FROM apps a JOIN app_versions v ON v.id = a.current_version_id \
             WHERE a.deleted_at IS NULL AND a.workspace_id = ",
        );
        sql.bind(workspace.uuid()).push(" ORDER BY a.id");
        let mut apps: HashMap<GateHost, Vec<AppId>> = HashMap::new();
        for found in sql.fetch_all(self.read()).await? {
            let row = RowContext { table: "app_versions", id: column(&found, 1)? };
            let manifest: Manifest = row.json(&column::<String>(&found, 2)?)?;
            for egress in &manifest.permissions.egress {
                // A name that no gate can lead to is no gate's business.
                let Ok(host) = GateHost::parse(&egress.host) else { continue };
                let declaring = apps.entry(host).or_default();
                let app = Id::from_uuid(column(&found, 0)?);
                if declaring.last() != Some(&app) {
                    declaring.push(app);
                }
            }
        }
        Ok(apps)
    }

    /// How many refusals each gate saw since a moment: warnings and errors that the gate logged for the apps that
    /// declare its host, and that name the host.
    async fn refusals(
        &self,
        views: &[GateView],
        since: Timestamp,
    ) -> Result<HashMap<GateId, u64>, StoreError> {
        let pairs: Vec<(&Gate, AppId)> =
            views.iter().flat_map(|view| view.apps.iter().map(|app| (&view.gate, *app))).collect();
        let mut refusals = HashMap::new();
        for pairs in statement_chunks(&pairs) {
            let mut sql = Sql::new("WITH declared (gate_id, app_id, pattern) AS (VALUES ");
            sql.push_values(pairs, |sql, (gate, app)| {
                let pattern = format!("%{}%", escape_like(gate.host.as_str()));
                sql.bind(gate.id.uuid()).push(", ").bind(app.uuid()).push(", ").bind(pattern);
            });
            sql.push(") SELECT d.gate_id, count(*) FROM declared d JOIN log_lines l ON l.app_id = d.app_id");
            // Written out, so that the partial index serves.
            let (source, level) = (LogSource::Gate.number(), LogLevel::Warn.number());
            sql.push(&format!(" AND l.source = {source} AND l.level >= {level} AND l.at >= "));
            sql.bind(millis(since))
                .push(" WHERE lower(l.message) LIKE d.pattern ESCAPE '\\' GROUP BY d.gate_id");
            for found in sql.fetch_all(self.read()).await? {
                let row = RowContext { table: "gates", id: column(&found, 0)? };
                let count: u64 = row.number(column(&found, 1)?)?;
                *refusals.entry(Id::from_uuid(row.id)).or_default() += count;
            }
        }
        Ok(refusals)
    }
}

#[async_trait]
impl GateTx for StoreTx {
    async fn gate(&mut self, workspace: WorkspaceId, id: GateId) -> Result<Option<Gate>, StoreError> {
        let found = gates::Entity::find_by_id(id.uuid())
            .filter(gates::Column::WorkspaceId.eq(workspace.uuid()))
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(gate).transpose()
    }

    async fn insert_gate(&mut self, gate: &Gate) -> Result<(), StoreError> {
        let row = gates::ActiveModel {
            id: Set(gate.id.uuid()),
            workspace_id: Set(gate.workspace.uuid()),
            name: Set(gate.name.clone()),
            host: Set(gate.host.as_str().to_owned()),
            methods: Set(join_methods(&gate.methods)),
            connection_id: Set(gate.connection.map(Id::uuid)),
            status: Set(gate.status.as_str().to_owned()),
            created_at: Set(millis(gate.created_at)),
        };
        gates::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn set_gate_status(
        &mut self,
        workspace: WorkspaceId,
        id: GateId,
        status: GateStatus,
    ) -> Result<(), StoreError> {
        gates::Entity::update_many()
            .col_expr(gates::Column::Status, Expr::value(status.as_str()))
            .filter(gates::Column::Id.eq(id.uuid()))
            .filter(gates::Column::WorkspaceId.eq(workspace.uuid()))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }
}
