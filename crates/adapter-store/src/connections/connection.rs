//! The ports of connections.
//!
//! The gate of a connection is a row of `gates` that has the id of the connection. A disconnected connection has none.

use std::collections::HashMap;

use ::apps::Manifest;
use ::connections::{
    Connection, GateStatus,
    connection::{
        ConnectionHealth, ConnectionStatus, ConnectionUser, ConnectionView, SecretPurpose, gate_of,
    },
    connections::{ConnectionReader, ConnectionTx},
    last_check::LastCheck,
};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{AppId, ConnectionId, GateId, WorkspaceId, kind},
    page::PageRequest,
};
use sea_orm::{
    ActiveModelTrait as _,
    ActiveValue::Set,
    ColumnTrait as _, Condition, ConnectionTrait, DerivePartialModel, EntityTrait as _, IntoActiveModel as _,
    JoinType, PaginatorTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _,
    RelationTrait as _,
    sea_query::{Expr, OnConflict},
};

use super::{
    calls::calls_of_day,
    stored::{connection, connection_row, join_methods, status_columns},
};
use crate::{
    convert::{RowContext, to_json},
    entity::{
        app_versions, apps,
        column::{DbId, DbText, DbTime},
        connection_secrets, connections, gates,
    },
    error::OrStoreError as _,
    store::Store,
    tx::StoreTx,
};

/// Adds to rows of connections the status of their gates.
async fn with_gates<C: ConnectionTrait>(
    db: &C,
    models: Vec<connections::Model>,
) -> Result<Vec<Connection>, StoreError> {
    if models.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<_> = models.iter().map(|model| DbId(gate_of(model.id.0))).collect();
    let found = gates::Entity::find().filter(gates::Column::Id.is_in(ids)).all(db).await.or_store_error()?;
    let statuses: HashMap<_, _> = found.into_iter().map(|gate| (gate.id, gate.status.0)).collect();
    models
        .into_iter()
        .map(|model| {
            let gate = statuses.get(&DbId(gate_of(model.id.0))).copied();
            connection(model, gate)
        })
        .collect()
}

/// An app and the manifest of its current version, as JSON.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "app_versions::Entity")]
struct UserRow {
    id: DbId<kind::Version>,
    app_id: DbId<kind::App>,
    manifest: String,
}

/// Returns the apps of a workspace by the connections that their current versions name.
pub(super) async fn users_of<C: ConnectionTrait>(
    db: &C,
    workspace: WorkspaceId,
) -> Result<HashMap<ConnectionId, Vec<ConnectionUser>>, StoreError> {
    let versions = app_versions::Entity::find()
        .join(JoinType::InnerJoin, app_versions::Relation::CurrentOf.def())
        .filter(apps::Column::DeletedAt.is_null())
        .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
        .order_by_asc(apps::Column::Id)
        .into_partial_model::<UserRow>()
        .all(db)
        .await
        .or_store_error()?;
    let mut naming: Vec<(AppId, Vec<ConnectionId>)> = Vec::new();
    for version in versions {
        let manifest: Manifest = RowContext::new("app_versions", version.id).json(&version.manifest)?;
        let mut named: Vec<_> =
            manifest.permissions.connectors.iter().map(|connector| connector.connection_id).collect();
        named.sort_unstable();
        named.dedup();
        if !named.is_empty() {
            naming.push((version.app_id.0, named));
        }
    }
    if naming.is_empty() {
        return Ok(HashMap::new());
    }
    let ids = naming.iter().map(|(app, _)| DbId(*app));
    let found = apps::Entity::find().filter(apps::Column::Id.is_in(ids)).all(db).await.or_store_error()?;
    let apps: HashMap<AppId, apps::Model> = found.into_iter().map(|app| (app.id.0, app)).collect();
    let mut users: HashMap<ConnectionId, Vec<ConnectionUser>> = HashMap::new();
    for (app, named) in naming {
        let Some(found) = apps.get(&app) else { continue };
        for connection in named {
            users.entry(connection).or_default().push(ConnectionUser {
                app,
                name: found.name.clone(),
                archetype: found.archetype.clone(),
                category: found.category.0.as_str().to_owned(),
                is_paused: found.paused,
            });
        }
    }
    Ok(users)
}

/// Returns the last test of a connection, of whatever revision of it.
fn last_check(model: &connections::Model) -> Option<Result<(ConnectionId, LastCheck), StoreError>> {
    let text = model.last_check.as_ref()?;
    let check = RowContext::new("connections", model.id).json(text);
    Some(check.map(|check| (model.id.0, check)))
}

impl Store {
    async fn connection_views(
        &self,
        workspace: WorkspaceId,
        models: Vec<connections::Model>,
        since: Timestamp,
    ) -> Result<Vec<ConnectionView>, StoreError> {
        let checks = models.iter().filter_map(last_check).collect::<Result<HashMap<_, _>, _>>()?;
        let connections = with_gates(self.read(), models).await?;
        if connections.is_empty() {
            return Ok(Vec::new());
        }
        let mut users = users_of(self.read(), workspace).await?;
        let gates: Vec<GateId> = connections.iter().map(|connection| gate_of(connection.id)).collect();
        let calls = calls_of_day(self.read(), &gates, since).await?;
        let view = |connection: Connection| {
            let calls = calls.get(&gate_of(connection.id)).copied().unwrap_or_default();
            let health = ConnectionHealth {
                calls_24h: calls.counts.calls,
                errors_24h: calls.counts.errors,
                blocked_24h: calls.counts.blocked,
                last_call_at: calls.last_call_at,
            };
            let used_by = users.remove(&connection.id).unwrap_or_default();
            let last_check = checks.get(&connection.id);
            let last_check = last_check.filter(|check| check.revision == connection.revision).cloned();
            ConnectionView { connection, health, used_by, last_check }
        };
        Ok(connections.into_iter().map(view).collect())
    }
}

#[span_macros::traced]
#[async_trait]
impl ConnectionReader for Store {
    async fn list_connections(
        &self,
        workspace: WorkspaceId,
        since: Timestamp,
        page: PageRequest,
    ) -> Result<Vec<ConnectionView>, StoreError> {
        let found = connections::Entity::find()
            .filter(connections::Column::WorkspaceId.eq(DbId(workspace)))
            .apply_if(page.after, |query, after| query.filter(connections::Column::Id.gt(after)))
            .order_by_asc(connections::Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        self.connection_views(workspace, found, since).await
    }

    async fn view_connection(
        &self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        since: Timestamp,
    ) -> Result<Option<ConnectionView>, StoreError> {
        let found = of_workspace(workspace, connection).one(self.read()).await.or_store_error()?;
        Ok(self.connection_views(workspace, found.into_iter().collect(), since).await?.pop())
    }

    async fn find_connection(
        &self,
        workspace: WorkspaceId,
        connection: ConnectionId,
    ) -> Result<Option<Connection>, StoreError> {
        let found = of_workspace(workspace, connection).one(self.read()).await.or_store_error()?;
        Ok(with_gates(self.read(), found.into_iter().collect()).await?.pop())
    }

    async fn connection_scope(&self, connection: ConnectionId) -> Result<Option<WorkspaceId>, StoreError> {
        let found = connections::Entity::find_by_id(connection).one(self.read()).await.or_store_error()?;
        Ok(found.map(|model| model.workspace_id.0))
    }

    async fn sealed_secret(
        &self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        purpose: SecretPurpose,
    ) -> Result<Option<String>, StoreError> {
        let found = sealed_of(workspace, connection, purpose).one(self.read()).await.or_store_error()?;
        Ok(found.map(|secret| secret.sealed))
    }
}

fn sealed_of(
    workspace: WorkspaceId,
    connection: ConnectionId,
    purpose: SecretPurpose,
) -> sea_orm::Select<connection_secrets::Entity> {
    connection_secrets::Entity::find_by_id((DbId(connection), DbText(purpose)))
        .filter(connection_secrets::Column::WorkspaceId.eq(DbId(workspace)))
}

fn of_workspace(workspace: WorkspaceId, connection: ConnectionId) -> sea_orm::Select<connections::Entity> {
    connections::Entity::find_by_id(connection).filter(connections::Column::WorkspaceId.eq(DbId(workspace)))
}

fn gate_row(connection: &Connection) -> gates::ActiveModel {
    gates::Model {
        id: DbId(gate_of(connection.id)),
        workspace_id: DbId(connection.workspace),
        name: connection.display_name.clone(),
        host: DbText(connection.http.host.clone()),
        methods: join_methods(&connection.http.methods),
        connection_id: Some(DbId(connection.id)),
        status: DbText(connection.gate),
        created_at: DbTime(connection.created_at),
    }
    .into_active_model()
    .reset_all()
}

#[span_macros::traced]
#[async_trait]
impl ConnectionTx for StoreTx {
    async fn connection_for_update(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
    ) -> Result<Option<Connection>, StoreError> {
        let found =
            of_workspace(workspace, connection).lock_exclusive().one(self.read()).await.or_store_error()?;
        Ok(with_gates(self.read(), found.into_iter().collect()).await?.pop())
    }

    async fn count_connections(&mut self, workspace: WorkspaceId) -> Result<u64, StoreError> {
        self.lock_workspace(workspace).await?;
        connections::Entity::find()
            .filter(connections::Column::WorkspaceId.eq(DbId(workspace)))
            .count(self.read())
            .await
            .or_store_error()
    }

    async fn insert_connection(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let row = connection_row(connection)?;
        connections::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        gates::Entity::insert(gate_row(connection))
            .exec_without_returning(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn update_connection(&mut self, connection: &Connection) -> Result<(), StoreError> {
        let row = connection_row(connection)?;
        connections::Entity::update(row).exec(self.write()).await.or_store_error()?;
        if connection.status.is_disconnected() {
            let gate = gates::Entity::delete_by_id(gate_of(connection.id));
            gate.exec(self.write()).await.or_store_error()?;
        } else {
            let changed = OnConflict::column(gates::Column::Id)
                .update_columns([gates::Column::Name, gates::Column::Host, gates::Column::Methods])
                .to_owned();
            gates::Entity::insert(gate_row(connection))
                .on_conflict(changed)
                .exec_without_returning(self.write())
                .await
                .or_store_error()?;
        }
        Ok(())
    }

    async fn put_sealed_secret(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        purpose: SecretPurpose,
        sealed: &str,
    ) -> Result<(), StoreError> {
        let row = connection_secrets::ActiveModel {
            connection_id: Set(DbId(connection)),
            purpose: Set(DbText(purpose)),
            workspace_id: Set(DbId(workspace)),
            sealed: Set(sealed.to_owned()),
        };
        let replaced = OnConflict::columns([
            connection_secrets::Column::ConnectionId,
            connection_secrets::Column::Purpose,
        ])
        .update_column(connection_secrets::Column::Sealed)
        .to_owned();
        let db = match purpose {
            SecretPurpose::Secret => self.write(),
            // Nobody asked for a renewal.
            SecretPurpose::Tokens => self.write_unaudited(),
        };
        connection_secrets::Entity::insert(row)
            .on_conflict(replaced)
            .exec_without_returning(db)
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn sealed_secret_for_update(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        purpose: SecretPurpose,
    ) -> Result<Option<String>, StoreError> {
        let found = sealed_of(workspace, connection, purpose).lock_exclusive();
        Ok(found.one(self.read()).await.or_store_error()?.map(|secret| secret.sealed))
    }

    async fn delete_sealed_secrets(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        purposes: &[SecretPurpose],
    ) -> Result<(), StoreError> {
        connection_secrets::Entity::delete_many()
            .filter(connection_secrets::Column::ConnectionId.eq(DbId(connection)))
            .filter(connection_secrets::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(
                connection_secrets::Column::Purpose.is_in(purposes.iter().map(|purpose| DbText(*purpose))),
            )
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn set_connection_status(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        status: ConnectionStatus,
    ) -> Result<(), StoreError> {
        let (auth_failures, since) = status_columns(status);
        connections::Entity::update_many()
            .col_expr(connections::Column::Status, Expr::value(DbText(status.name())))
            .col_expr(connections::Column::StatusSince, Expr::value(since))
            .col_expr(connections::Column::AuthFailures, Expr::value(auth_failures))
            .filter(connections::Column::Id.eq(DbId(connection)))
            .filter(connections::Column::WorkspaceId.eq(DbId(workspace)))
            // Counting rejections is no change that somebody made; its use case audits a change of the status.
            .exec(self.write_unaudited())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn reserve_renewal(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        use connections::Column;
        let is_free =
            Condition::any().add(Column::RenewalUntil.is_null()).add(Column::RenewalUntil.lte(DbTime(now)));
        let reserved = connections::Entity::update_many()
            .col_expr(Column::RenewalUntil, Expr::value(DbTime(until)))
            .filter(Column::Id.eq(DbId(connection)))
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .filter(is_free)
            // Nobody asked for a renewal.
            .exec(self.write_unaudited())
            .await
            .or_store_error()?;
        Ok(reserved.rows_affected == 1)
    }

    async fn release_renewal(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
    ) -> Result<(), StoreError> {
        use connections::Column;
        connections::Entity::update_many()
            .col_expr(Column::RenewalUntil, Expr::value(None::<DbTime>))
            .filter(Column::Id.eq(DbId(connection)))
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .exec(self.write_unaudited())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn set_last_check(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        check: &LastCheck,
    ) -> Result<(), StoreError> {
        connections::Entity::update_many()
            .col_expr(connections::Column::LastCheck, Expr::value(to_json(check)?))
            .filter(connections::Column::Id.eq(DbId(connection)))
            .filter(connections::Column::WorkspaceId.eq(DbId(workspace)))
            // A test changes nothing of the connection.
            .exec(self.write_unaudited())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn set_connection_gate(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
        status: GateStatus,
    ) -> Result<(), StoreError> {
        gates::Entity::update_many()
            .col_expr(gates::Column::Status, Expr::value(DbText(status)))
            .filter(gates::Column::Id.eq(DbId(gate_of(connection))))
            .filter(gates::Column::WorkspaceId.eq(DbId(workspace)))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn connection_users(
        &mut self,
        workspace: WorkspaceId,
        connection: ConnectionId,
    ) -> Result<Vec<ConnectionUser>, StoreError> {
        Ok(users_of(self.read(), workspace).await?.remove(&connection).unwrap_or_default())
    }
}
