//! Tools of agents.

use std::collections::HashMap;

use ::runs::{
    AutomationStatus, TriggerKind,
    agent_tools::{
        AgentTool, AgentToolsRead, AgentToolsTx, CALL_DAYS, InputSchema, ListedTool, PermissionsHash,
        ToolApp, ToolName,
    },
};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    authority::{AppFact, AppRights, Sharing, Visibility},
    id::{AgentToolId, AppId, AutomationId, UserId, VersionId, WorkspaceId, kind},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, ConnectionTrait, DerivePartialModel, EntityTrait as _, FromQueryResult, JoinType,
    Order, QueryFilter as _, QueryOrder as _, QuerySelect as _, RelationTrait as _, Select,
    sea_query::{Expr, ExprTrait as _, NullOrdering, OnConflict},
};

use crate::{
    apps::visible_app_ids,
    convert::{RowContext, millis, to_json},
    entity::{
        agent_tool_calls, agent_tools, app_grants, app_versions, apps, automations,
        column::{DbId, DbText, DbTime},
        users,
    },
    error::OrStoreError as _,
    query::{self, literal},
    store::Store,
    tx::StoreTx,
};

const MILLIS_PER_DAY: i64 = 86_400_000;

/// Returns the day of a moment, in days since 1970 in UTC.
fn day_of(at: Timestamp) -> i64 {
    millis(at).div_euclid(MILLIS_PER_DAY)
}

/// A tool with what is shown of its automation and app.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "agent_tools::Entity")]
struct ToolRow {
    #[sea_orm(nested)]
    tool: agent_tools::Model,
    #[sea_orm(from_expr = "automations::Column::Name")]
    automation_name: String,
    #[sea_orm(from_expr = "automations::Column::Status")]
    automation_status: DbText<AutomationStatus>,
    #[sea_orm(from_expr = "automations::Column::TriggerKind")]
    trigger_kind: DbText<TriggerKind>,
    #[sea_orm(from_expr = "apps::Column::Name")]
    app_name: String,
    #[sea_orm(from_expr = "apps::Column::Paused")]
    is_app_paused: bool,
    #[sea_orm(from_expr = "apps::Column::CreatedBy")]
    app_created_by: DbId<kind::User>,
    #[sea_orm(from_expr = "apps::Column::Sharing")]
    app_sharing: DbText<Sharing>,
    #[sea_orm(from_expr = "apps::Column::CurrentVersionId")]
    current_version: Option<DbId<kind::Version>>,
    #[sea_orm(from_expr = "users::Column::Name")]
    reviewed_by_name: Option<String>,
}

/// The current version of an app, and its pause.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "apps::Entity")]
struct ToolAppRow {
    paused: bool,
    current_version_id: Option<DbId<kind::Version>>,
}

/// The digest of what a version may do.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "app_versions::Entity")]
struct PermissionsRow {
    id: DbId<kind::Version>,
    permissions_hash: Option<String>,
}

/// A version's manifest, as JSON.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "app_versions::Entity")]
struct ManifestRow {
    id: DbId<kind::Version>,
    manifest: String,
}

/// Calls of a tool.
#[derive(FromQueryResult)]
struct CallsRow {
    tool_id: DbId<kind::AgentTool>,
    calls: i64,
}

fn tool(model: agent_tools::Model) -> Result<AgentTool, StoreError> {
    let row = RowContext::new("agent_tools", model.id);
    let schema = InputSchema::parse(row.json(&model.input_schema)?).map_err(|error| row.error(error))?;
    Ok(AgentTool {
        id: model.id.0,
        workspace: model.workspace_id.0,
        app: model.app_id.0,
        automation: model.automation_id.0,
        name: ToolName::parse(&model.name).map_err(|error| row.error(error))?,
        title: model.title,
        description: model.description,
        input_schema: schema,
        is_enabled: model.enabled,
        reviewed_hash: PermissionsHash(model.reviewed_hash),
        reviewed_at: model.reviewed_at.0,
        reviewed_by: model.reviewed_by.0,
        published_at: model.published_at.0,
    })
}

/// Selects the tools of a workspace with what is shown of them.
fn tools_of(workspace: WorkspaceId) -> Select<agent_tools::Entity> {
    agent_tools::Entity::find()
        .join(JoinType::InnerJoin, agent_tools::Relation::Automation.def())
        .join(JoinType::InnerJoin, agent_tools::Relation::App.def())
        .join(JoinType::LeftJoin, agent_tools::Relation::Reviewer.def())
        .filter(agent_tools::Column::WorkspaceId.eq(DbId(workspace)))
        .filter(apps::Column::DeletedAt.is_null())
}

/// Returns the digests of what versions may do.
async fn permissions_of(
    db: &impl ConnectionTrait,
    versions: Vec<VersionId>,
) -> Result<HashMap<VersionId, PermissionsHash>, StoreError> {
    if versions.is_empty() {
        return Ok(HashMap::new());
    }
    let with_ids = |ids: Vec<VersionId>| {
        app_versions::Entity::find().filter(app_versions::Column::Id.is_in(ids.into_iter().map(DbId)))
    };
    let found = with_ids(versions).into_partial_model::<PermissionsRow>().all(db).await.or_store_error()?;
    let mut hashes = HashMap::with_capacity(found.len());
    let mut without = Vec::new();
    for row in found {
        match row.permissions_hash {
            Some(hash) => drop(hashes.insert(row.id.0, PermissionsHash(hash))),
            None => without.push(row.id.0),
        }
    }
    if without.is_empty() {
        return Ok(hashes);
    }
    // Versions that are older than the column.
    for row in with_ids(without).into_partial_model::<ManifestRow>().all(db).await.or_store_error()? {
        let manifest: ::apps::Manifest = RowContext::new("app_versions", row.id).json(&row.manifest)?;
        hashes.insert(row.id.0, PermissionsHash(manifest.permissions_hash()));
    }
    Ok(hashes)
}

async fn tool_app_of(
    db: &impl ConnectionTrait,
    workspace: WorkspaceId,
    app: AppId,
) -> Result<Option<ToolApp>, StoreError> {
    let found = apps::Entity::find_by_id(app)
        .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
        .filter(apps::Column::DeletedAt.is_null())
        .into_partial_model::<ToolAppRow>()
        .one(db)
        .await
        .or_store_error()?;
    let Some(found) = found else { return Ok(None) };
    let current = found.current_version_id.map(DbId::into_inner);
    let mut hashes = permissions_of(db, current.into_iter().collect()).await?;
    let current = current.and_then(|version| Some((version, hashes.remove(&version)?)));
    Ok(Some(ToolApp { current, is_paused: found.paused }))
}

impl Store {
    /// Adds what other tables know about tools, in a few queries for all of them.
    async fn complete_tools(
        &self,
        rows: Vec<ToolRow>,
        user: UserId,
        now: Timestamp,
    ) -> Result<Vec<ListedTool>, StoreError> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let versions = rows.iter().filter_map(|row| row.current_version).map(DbId::into_inner);
        let hashes = permissions_of(self.read(), versions.collect()).await?;
        let grants = app_grants::Entity::find()
            .filter(app_grants::Column::UserId.eq(DbId(user)))
            .filter(app_grants::Column::AppId.is_in(rows.iter().map(|row| row.tool.app_id)))
            .all(self.read())
            .await
            .or_store_error()?;
        let grants: HashMap<_, i16> = grants.iter().map(|grant| (grant.app_id, grant.rights)).collect();
        let calls = agent_tool_calls::Entity::find()
            .filter(agent_tool_calls::Column::ToolId.is_in(rows.iter().map(|row| row.tool.id)))
            .filter(agent_tool_calls::Column::Day.gt(day_of(now) - CALL_DAYS))
            .group_by(agent_tool_calls::Column::ToolId)
            .select_only()
            .column(agent_tool_calls::Column::ToolId)
            // PostgreSQL's sum of integers is a decimal.
            .expr_as(agent_tool_calls::Column::Calls.sum().cast_as("bigint"), "calls")
            .into_model::<CallsRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        let calls: HashMap<_, i64> = calls.into_iter().map(|row| (row.tool_id, row.calls)).collect();
        let listed = |row: ToolRow| {
            let context = RowContext::new("agent_tools", row.tool.id);
            let granted = grants.get(&row.tool.app_id).copied().unwrap_or_default();
            let app_fact = AppFact {
                app: row.tool.app_id.0,
                workspace: row.tool.workspace_id.0,
                created_by: row.app_created_by.0,
                sharing: row.app_sharing.0,
                granted: AppRights::from_bits(context.number(granted.into())?),
            };
            let current = row.current_version.map(DbId::into_inner);
            let current = current.and_then(|version| Some((version, hashes.get(&version)?.clone())));
            let app = ToolApp { current, is_paused: row.is_app_paused };
            let calls_week = context.number(calls.get(&row.tool.id).copied().unwrap_or_default())?;
            let last_called_at = row.tool.last_called_at.map(DbTime::into_inner);
            let tool = tool(row.tool)?;
            Ok(ListedTool {
                state: tool.state(&app, row.trigger_kind.0, row.automation_status.0),
                tool,
                automation_name: row.automation_name,
                app_name: row.app_name,
                app_fact,
                reviewed_by_name: row.reviewed_by_name,
                calls_week,
                last_called_at,
            })
        };
        rows.into_iter().map(listed).collect()
    }
}

#[span_macros::traced]
#[async_trait]
impl AgentToolsRead for Store {
    async fn agent_tool(
        &self,
        workspace: WorkspaceId,
        automation: AutomationId,
        user: UserId,
        now: Timestamp,
    ) -> Result<Option<ListedTool>, StoreError> {
        let found = tools_of(workspace)
            .filter(agent_tools::Column::AutomationId.eq(DbId(automation)))
            .into_partial_model::<ToolRow>()
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(self.complete_tools(found.into_iter().collect(), user, now).await?.pop())
    }

    async fn agent_tools(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        visible: Visibility,
        now: Timestamp,
    ) -> Result<Vec<ListedTool>, StoreError> {
        use agent_tools::Column;
        let found = tools_of(workspace)
            .filter(Column::AppId.in_subquery(visible_app_ids(workspace, visible)))
            .order_by_with_nulls(Column::LastCalledAt, Order::Desc, NullOrdering::Last)
            .order_by_asc(Column::Name)
            .into_partial_model::<ToolRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        self.complete_tools(found, user, now).await
    }

    async fn automation_of_tool(
        &self,
        workspace: WorkspaceId,
        name: &ToolName,
    ) -> Result<Option<AutomationId>, StoreError> {
        use agent_tools::Column;
        let found = agent_tools::Entity::find()
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .filter(Column::Name.eq(name.as_str()));
        Ok(query::ids(found, Column::AutomationId, self.read()).await?.pop())
    }

    async fn tool_app(&self, workspace: WorkspaceId, app: AppId) -> Result<Option<ToolApp>, StoreError> {
        tool_app_of(self.read(), workspace, app).await
    }
}

#[span_macros::traced]
#[async_trait]
impl AgentToolsTx for StoreTx {
    async fn agent_tool_for_update(
        &mut self,
        workspace: WorkspaceId,
        automation: AutomationId,
    ) -> Result<Option<AgentTool>, StoreError> {
        let found = agent_tools::Entity::find()
            .filter(agent_tools::Column::AutomationId.eq(DbId(automation)))
            .filter(agent_tools::Column::WorkspaceId.eq(DbId(workspace)))
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(tool).transpose()
    }

    async fn tool_app(&mut self, workspace: WorkspaceId, app: AppId) -> Result<Option<ToolApp>, StoreError> {
        tool_app_of(self.read(), workspace, app).await
    }

    async fn count_agent_tools(&mut self, workspace: WorkspaceId) -> Result<u64, StoreError> {
        let tools = agent_tools::Entity::find().filter(agent_tools::Column::WorkspaceId.eq(DbId(workspace)));
        query::count(tools, self.read()).await
    }

    async fn upsert_agent_tool(&mut self, tool: &AgentTool) -> Result<(), StoreError> {
        use agent_tools::Column;
        let row = agent_tools::ActiveModel {
            id: Set(DbId(tool.id)),
            workspace_id: Set(DbId(tool.workspace)),
            app_id: Set(DbId(tool.app)),
            automation_id: Set(DbId(tool.automation)),
            name: Set(tool.name.as_str().to_owned()),
            title: Set(tool.title.clone()),
            description: Set(tool.description.clone()),
            input_schema: Set(to_json(tool.input_schema.as_json())?),
            enabled: Set(tool.is_enabled),
            reviewed_hash: Set(tool.reviewed_hash.0.clone()),
            reviewed_at: Set(DbTime(tool.reviewed_at)),
            reviewed_by: Set(DbId(tool.reviewed_by)),
            published_at: Set(DbTime(tool.published_at)),
            last_called_at: Set(None),
        };
        let replace = OnConflict::column(Column::Id)
            .update_columns([
                Column::Name,
                Column::Title,
                Column::Description,
                Column::InputSchema,
                Column::Enabled,
                Column::ReviewedHash,
                Column::ReviewedAt,
                Column::ReviewedBy,
            ])
            .to_owned();
        agent_tools::Entity::insert(row)
            .on_conflict(replace)
            .exec_without_returning(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn delete_agent_tool(
        &mut self,
        workspace: WorkspaceId,
        tool: AgentToolId,
    ) -> Result<(), StoreError> {
        agent_tool_calls::Entity::delete_many()
            .filter(agent_tool_calls::Column::ToolId.eq(DbId(tool)))
            .exec(self.write())
            .await
            .or_store_error()?;
        agent_tools::Entity::delete_many()
            .filter(agent_tools::Column::Id.eq(DbId(tool)))
            .filter(agent_tools::Column::WorkspaceId.eq(DbId(workspace)))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn record_tool_call(&mut self, tool: AgentToolId, at: Timestamp) -> Result<(), StoreError> {
        use agent_tool_calls::Column;
        let day = day_of(at);
        let row = agent_tool_calls::ActiveModel { tool_id: Set(DbId(tool)), day: Set(day), calls: Set(1) };
        let count = OnConflict::columns([Column::ToolId, Column::Day])
            .value(Column::Calls, Expr::col((agent_tool_calls::Entity, Column::Calls)).add(literal(1)))
            .to_owned();
        agent_tool_calls::Entity::insert(row)
            .on_conflict(count)
            .exec_without_returning(self.write())
            .await
            .or_store_error()?;
        agent_tool_calls::Entity::delete_many()
            .filter(Column::ToolId.eq(DbId(tool)))
            .filter(Column::Day.lte(day - CALL_DAYS))
            .exec(self.write())
            .await
            .or_store_error()?;
        agent_tools::Entity::update_many()
            .col_expr(agent_tools::Column::LastCalledAt, Expr::value(DbTime(at)))
            .filter(agent_tools::Column::Id.eq(DbId(tool)))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }
}
