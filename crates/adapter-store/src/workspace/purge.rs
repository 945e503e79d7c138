//! The purge of a deleted workspace: its rows of every table, the workspace's own last.
//!
//! Each statement deletes a few rows and commits by itself. A purge that was interrupted begins again and finds less. A
//! test compares the tables with the schema, so that a new one is not forgotten.

use ::workspace::workspaces::deletion::WorkspacePurge;
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    id::{AppId, RunId, WorkspaceId},
};
use sea_orm::{
    ColumnTrait, ConnectionTrait as _, EntityTrait, QueryFilter as _, QueryOrder as _, QuerySelect as _,
    QueryTrait as _, Select,
    sea_query::{Expr, ExprTrait as _, Query, SelectStatement},
};
use uuid::Uuid;

use crate::{
    entity::{
        agent_tools, app_blocked_runs, app_change_effects, app_changes, app_drafts, app_grants,
        app_log_volume, app_metrics, app_observations, app_rollbacks, app_secrets, app_versions, approvals,
        apps, audit_log, automations, code_files, code_prunes, code_refs,
        column::{DbId, DbTime},
        connection_secrets, connections, dead_letters, deliveries, departures, device_logins, gate_calls,
        gates, imports, invites, join_domains, log_lines, members, notification_deliveries,
        notification_settings, notifications, oauth_access_tokens, oauth_authorizations, oauth_grants,
        oauth_refresh_tokens, occurrences, repeat_signatures, run_queue, runs, tokens, webhook_keys,
        webhook_refusals, webhooks, workspace_code, workspace_events, workspace_feeds, workspaces,
    },
    error::OrStoreError as _,
    query,
    sql::statement_chunks,
    store::Store,
};

/// Rows that one statement deletes; at most.
const CHUNK_ROWS: u64 = 500;
/// Versions or files of code that one statement deletes; at most. They are large.
const VERSION_CHUNK_ROWS: u64 = 20;

#[span_macros::traced]
#[async_trait]
impl WorkspacePurge for Store {
    async fn begin_workspace_purges(
        &self,
        deleted_before: Timestamp,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<WorkspaceId>, StoreError> {
        use workspaces::Column;
        let due = workspaces::Entity::find().filter(Column::DeletedAt.lte(DbTime(deleted_before)));
        // Looked up before the write lock is asked for: nearly always there is nothing to do.
        if !query::exists(due.clone(), self.read()).await? {
            return Ok(Vec::new());
        }
        workspaces::Entity::update_many()
            .col_expr(Column::PurgeStartedAt, Expr::value(DbTime(now)))
            .filter(Column::DeletedAt.lte(DbTime(deleted_before)))
            .filter(Column::PurgeStartedAt.is_null())
            .exec(&*self.write().await?)
            .await
            .or_store_error()?;
        let marked = due
            .filter(Column::PurgeStartedAt.is_not_null())
            .order_by_asc(Column::DeletedAt)
            .limit(u64::from(limit));
        query::ids(marked, Column::Id, self.read()).await
    }

    async fn purge_workspace(&self, workspace: WorkspaceId) -> Result<bool, StoreError> {
        self.purge_runs(workspace).await?;
        self.purge_automations(workspace).await?;
        self.purge_apps(workspace).await?;
        self.purge_access(workspace).await?;
        self.purge_rows(rows_of(connection_secrets::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(connections::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(gate_calls::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(gates::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(notification_deliveries::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(notification_settings::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(notifications::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(workspace_events::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(workspace_feeds::Column::WorkspaceId, workspace)).await?;
        self.purge_counters("workspace_usage", "workspace_id", [workspace.uuid()]).await?;
        self.purge_rows(rows_of(audit_log::Column::WorkspaceId, workspace)).await?;
        let deleted = workspaces::Entity::delete_by_id(workspace)
            .filter(workspaces::Column::PurgeStartedAt.is_not_null())
            .exec(&*self.write().await?)
            .await
            .or_store_error()?;
        Ok(deleted.rows_affected > 0)
    }
}

impl Store {
    /// Deletes runs, and what they and webhook calls left.
    async fn purge_runs(&self, workspace: WorkspaceId) -> Result<(), StoreError> {
        self.purge_rows(rows_of(run_queue::Column::WorkspaceId, workspace)).await?;
        loop {
            let runs = rows_of(runs::Column::WorkspaceId, workspace).limit(CHUNK_ROWS);
            let runs: Vec<RunId> = query::ids(runs, runs::Column::Id, self.read()).await?;
            if runs.is_empty() {
                break;
            }
            self.delete_runs(&runs).await?;
        }
        self.purge_rows(rows_of(dead_letters::Column::WorkspaceId, workspace)).await?;
        self.purge_by_id(approvals::Column::Id, approvals::Column::WorkspaceId, workspace).await?;
        self.purge_by_id(occurrences::Column::Id, occurrences::Column::WorkspaceId, workspace).await?;
        self.purge_by_id(deliveries::Column::Id, deliveries::Column::WorkspaceId, workspace).await
    }

    async fn purge_automations(&self, workspace: WorkspaceId) -> Result<(), StoreError> {
        let automations: Vec<Id<()>> =
            self.ids_of(automations::Column::Id, automations::Column::WorkspaceId, workspace).await?;
        let automations = automations.into_iter().map(Id::uuid);
        self.purge_counters("automation_failures", "automation_id", automations).await?;
        let hooks = || subquery(webhooks::Column::Id, rows_of(webhooks::Column::WorkspaceId, workspace));
        self.purge_rows(rows_in(webhook_keys::Column::WebhookId, hooks())).await?;
        self.purge_rows(rows_in(repeat_signatures::Column::WebhookId, hooks())).await?;
        self.purge_rows(rows_of(webhook_refusals::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(webhooks::Column::WorkspaceId, workspace)).await?;
        let tools: Vec<Id<()>> =
            self.ids_of(agent_tools::Column::Id, agent_tools::Column::WorkspaceId, workspace).await?;
        self.purge_counters("agent_tool_calls", "tool_id", tools.into_iter().map(Id::uuid)).await?;
        self.purge_rows(rows_of(agent_tools::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(automations::Column::WorkspaceId, workspace)).await
    }

    /// Deletes apps, those that were deleted before too, with their versions and logs.
    async fn purge_apps(&self, workspace: WorkspaceId) -> Result<(), StoreError> {
        let apps: Vec<AppId> = self.ids_of(apps::Column::Id, apps::Column::WorkspaceId, workspace).await?;
        for app in &apps {
            let lines = log_lines::Entity::find().filter(log_lines::Column::AppId.eq(DbId(*app)));
            self.purge_rows(lines).await?;
            let metrics = app_metrics::Entity::find().filter(app_metrics::Column::AppId.eq(DbId(*app)));
            self.purge_rows(metrics).await?;
            let versions = app_versions::Entity::find().filter(app_versions::Column::AppId.eq(DbId(*app)));
            while self.delete_chunk(versions.clone(), VERSION_CHUNK_ROWS).await? == VERSION_CHUNK_ROWS {}
        }
        self.purge_counters("app_failures", "app_id", apps.into_iter().map(Id::uuid)).await?;
        let apps = || subquery(apps::Column::Id, rows_of(apps::Column::WorkspaceId, workspace));
        self.purge_rows(rows_in(app_log_volume::Column::AppId, apps())).await?;
        self.purge_rows(rows_in(app_grants::Column::AppId, apps())).await?;
        self.purge_rows(rows_in(app_secrets::Column::AppId, apps())).await?;
        self.purge_rows(rows_of(app_observations::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(app_blocked_runs::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(app_rollbacks::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_in(app_change_effects::Column::AppId, apps())).await?;
        self.purge_rows(rows_of(app_changes::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(app_drafts::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(code_prunes::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(code_refs::Column::WorkspaceId, workspace)).await?;
        let files = rows_of(code_files::Column::WorkspaceId, workspace);
        while self.delete_chunk(files.clone(), VERSION_CHUNK_ROWS).await? == VERSION_CHUNK_ROWS {}
        self.purge_rows(rows_of(workspace_code::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(imports::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(apps::Column::WorkspaceId, workspace)).await
    }

    /// Deletes who had access, and with what.
    async fn purge_access(&self, workspace: WorkspaceId) -> Result<(), StoreError> {
        let grants =
            || subquery(oauth_grants::Column::Id, rows_of(oauth_grants::Column::WorkspaceId, workspace));
        self.purge_rows(rows_in(oauth_refresh_tokens::Column::GrantId, grants())).await?;
        self.purge_rows(rows_in(oauth_access_tokens::Column::GrantId, grants())).await?;
        self.purge_rows(rows_of(oauth_authorizations::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(oauth_grants::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(device_logins::Column::ApprovedWorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(tokens::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(invites::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(join_domains::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(departures::Column::WorkspaceId, workspace)).await?;
        self.purge_rows(rows_of(members::Column::WorkspaceId, workspace)).await
    }

    /// Deletes the rows that a query selects, a few in each statement, until none is left.
    pub(crate) async fn purge_rows<E: EntityTrait>(&self, rows: Select<E>) -> Result<(), StoreError> {
        while self.delete_chunk(rows.clone(), CHUNK_ROWS).await? == CHUNK_ROWS {}
        Ok(())
    }

    /// Deletes the workspace's rows of a table without an index by workspace. They are found in one pass over the table, in
    /// the order of the ids and outside of transactions that write.
    async fn purge_by_id<C>(&self, id: C, workspace_id: C, workspace: WorkspaceId) -> Result<(), StoreError>
    where
        C: ColumnTrait<EntityName: EntityTrait<Column = C>>,
    {
        let mut last: Option<Uuid> = None;
        loop {
            let found = rows_of(workspace_id, workspace)
                .apply_if(last, |query, last| query.filter(id.gt(last)))
                .order_by_asc(id)
                .limit(CHUNK_ROWS);
            let found: Vec<Id<()>> = query::ids(found, id, self.read()).await?;
            let found: Vec<Uuid> = found.into_iter().map(Id::uuid).collect();
            if found.is_empty() {
                return Ok(());
            }
            last = found.last().copied();
            for ids in statement_chunks(&found) {
                <C::EntityName as EntityTrait>::delete_many()
                    .filter(id.is_in(ids.iter().copied()))
                    .exec(&*self.write().await?)
                    .await
                    .or_store_error()?;
            }
        }
    }

    /// Deletes the rows of a table of counters that has no entity, by its key.
    async fn purge_counters(
        &self,
        table: &'static str,
        key: &'static str,
        ids: impl IntoIterator<Item = Uuid>,
    ) -> Result<(), StoreError> {
        let ids: Vec<Uuid> = ids.into_iter().collect();
        for ids in statement_chunks(&ids) {
            let is_meant = Expr::col(key).is_in(ids.iter().copied());
            let delete = Query::delete().from_table(table).and_where(is_meant).to_owned();
            self.write().await?.execute(&delete).await.or_store_error()?;
        }
        Ok(())
    }

    /// Returns the ids of a workspace's rows.
    async fn ids_of<C, K: Send + Sync + 'static>(
        &self,
        id: C,
        workspace_id: C,
        workspace: WorkspaceId,
    ) -> Result<Vec<Id<K>>, StoreError>
    where
        C: ColumnTrait<EntityName: EntityTrait<Column = C>>,
    {
        query::ids(rows_of(workspace_id, workspace), id, self.read()).await
    }
}

/// Selects the rows of a workspace, which `column` names.
fn rows_of<C>(column: C, workspace: WorkspaceId) -> Select<C::EntityName>
where
    C: ColumnTrait<EntityName: EntityTrait<Column = C>>,
{
    <C::EntityName as EntityTrait>::find().filter(column.eq(DbId(workspace)))
}

/// Selects the rows whose `column` is among those of a subquery.
fn rows_in<C>(column: C, ids: SelectStatement) -> Select<C::EntityName>
where
    C: ColumnTrait<EntityName: EntityTrait<Column = C>>,
{
    <C::EntityName as EntityTrait>::find().filter(column.in_subquery(ids))
}

/// Returns the ids of rows, as a subquery.
fn subquery<C>(id: C, rows: Select<C::EntityName>) -> SelectStatement
where
    C: ColumnTrait<EntityName: EntityTrait<Column = C>>,
{
    rows.select_only().column(id).into_query()
}
