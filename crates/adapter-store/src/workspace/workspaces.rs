//! Workspaces, and memberships as requests ask for them.

use std::sync::Arc;

use ::workspace::{Plan, Workspace, WorkspaceRead, WorkspaceSummary, WorkspaceTx};
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    authority::{MembershipFact, Role},
    id::{UserId, WorkspaceId},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, EntityTrait as _, QueryFilter as _,
    sea_query::{Expr, ExprTrait as _, OnConflict},
};

use crate::{
    Store, StoreTx,
    caller_cache::CallerChange,
    convert::{RowContext, millis, to_json},
    entity::{members, workspaces},
    error::OrStoreError as _,
    sql::{Sql, column},
};

fn workspace(model: workspaces::Model) -> Result<Workspace, StoreError> {
    let row = RowContext { table: "workspaces", id: model.id };
    Ok(Workspace {
        id: Id::from_uuid(model.id),
        profile: row.parse(&model.profile)?,
        team_size: row.parse(&model.team_size)?,
        intents: row.json(&model.intents)?,
        locale: row.parse(&model.locale)?,
        currency: row.parse(&model.currency)?,
        hourly_cost_minor: row.number(model.hourly_cost_minor)?,
        plan: row.parse(&model.plan)?,
        created_at: row.timestamp(model.created_at)?,
        slug: model.slug,
        name: model.name,
        timezone: model.timezone,
    })
}

#[async_trait]
impl WorkspaceRead for Store {
    async fn membership(
        &self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<MembershipFact>, StoreError> {
        let cache = self.cache_view().await;
        if let Some(fact) = cache.get(|all| &all.members, &(workspace, user)) {
            return Ok(fact);
        }
        let found = members::Entity::find_by_id((workspace.uuid(), user.uuid()))
            .one(self.read())
            .await
            .or_store_error()?;
        let fact = found
            .map(|model| {
                let row = RowContext { table: "members", id: model.user_id };
                Ok(MembershipFact {
                    workspace,
                    user,
                    role: row.parse(&model.role)?,
                    access_ends_at: row.optional_timestamp(model.access_ends_at)?,
                })
            })
            .transpose()?;
        cache.insert(|all| &all.members, (workspace, user), fact.clone());
        Ok(fact)
    }

    async fn workspace(&self, id: WorkspaceId) -> Result<Option<Workspace>, StoreError> {
        let cache = self.cache_view().await;
        if let Some(workspace) = cache.get(|all| &all.workspaces, &id) {
            return Ok(Some(Workspace::clone(&workspace)));
        }
        let found = workspaces::Entity::find_by_id(id.uuid()).one(self.read()).await.or_store_error()?;
        let found = found.map(workspace).transpose()?;
        if let Some(workspace) = &found {
            cache.insert(|all| &all.workspaces, id, Arc::new(workspace.clone()));
        }
        Ok(found)
    }

    async fn workspaces_of(&self, user: UserId, now: Timestamp) -> Result<Vec<WorkspaceSummary>, StoreError> {
        let mut sql = Sql::new(
            "SELECT w.id, w.name, w.slug, w.profile, m.role, \
             (SELECT count(*) FROM members other WHERE other.workspace_id = w.id \
             AND (other.access_ends_at IS NULL OR other.access_ends_at > ",
        );
        sql.bind(millis(now));
        sql.push(")) FROM members m JOIN workspaces w ON w.id = m.workspace_id WHERE m.user_id = ");
        sql.bind(user.uuid()).push(" AND (m.access_ends_at IS NULL OR m.access_ends_at > ").bind(millis(now));
        sql.push(") ORDER BY w.id");
        let rows = sql.fetch_all(self.read()).await?;
        rows.iter()
            .map(|found| {
                let row = RowContext { table: "workspaces", id: column(found, 0)? };
                Ok(WorkspaceSummary {
                    id: Id::from_uuid(row.id),
                    name: column(found, 1)?,
                    slug: column(found, 2)?,
                    profile: row.parse(&column::<String>(found, 3)?)?,
                    role: row.parse(&column::<String>(found, 4)?)?,
                    member_count: row.number(column(found, 5)?)?,
                })
            })
            .collect()
    }
}

/// A membership without an end.
fn permanent_member(
    workspace: WorkspaceId,
    user: UserId,
    role: Role,
    joined_at: Timestamp,
) -> members::ActiveModel {
    members::ActiveModel {
        workspace_id: Set(workspace.uuid()),
        user_id: Set(user.uuid()),
        role: Set(role.as_str().to_owned()),
        joined_at: Set(millis(joined_at)),
        access_ends_at: Set(None),
    }
}

#[async_trait]
impl WorkspaceTx for StoreTx {
    async fn insert_workspace(&mut self, workspace: &Workspace) -> Result<(), StoreError> {
        let row = workspaces::ActiveModel {
            id: Set(workspace.id.uuid()),
            slug: Set(workspace.slug.clone()),
            name: Set(workspace.name.clone()),
            profile: Set(workspace.profile.as_str().to_owned()),
            team_size: Set(workspace.team_size.as_str().to_owned()),
            intents: Set(to_json(&workspace.intents)?),
            locale: Set(workspace.locale.as_str().to_owned()),
            timezone: Set(workspace.timezone.clone()),
            currency: Set(workspace.currency.as_str().to_owned()),
            hourly_cost_minor: Set(workspace.hourly_cost_minor.into()),
            plan: Set(workspace.plan.as_str().to_owned()),
            revision: Set(1),
            created_at: Set(millis(workspace.created_at)),
        };
        workspaces::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn insert_member(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        role: Role,
        joined_at: Timestamp,
    ) -> Result<(), StoreError> {
        let row = permanent_member(workspace, user, role, joined_at);
        members::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        self.invalidate_caller(CallerChange::Member(workspace, user));
        Ok(())
    }

    async fn set_plan(&mut self, workspace: WorkspaceId, plan: Plan) -> Result<bool, StoreError> {
        let updated = workspaces::Entity::update_many()
            .col_expr(workspaces::Column::Plan, Expr::value(plan.as_str()))
            .col_expr(workspaces::Column::Revision, Expr::col(workspaces::Column::Revision).add(1))
            .filter(workspaces::Column::Id.eq(workspace.uuid()))
            .exec(self.write())
            .await
            .or_store_error()?;
        self.invalidate_caller(CallerChange::Workspace(workspace));
        Ok(updated.rows_affected > 0)
    }

    async fn upsert_member(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        role: Role,
        joined_at: Timestamp,
    ) -> Result<(), StoreError> {
        let row = permanent_member(workspace, user, role, joined_at);
        let replace = OnConflict::columns([members::Column::WorkspaceId, members::Column::UserId])
            .update_columns([members::Column::Role, members::Column::AccessEndsAt])
            .to_owned();
        members::Entity::insert(row)
            .on_conflict(replace)
            .exec_without_returning(self.write())
            .await
            .or_store_error()?;
        self.invalidate_caller(CallerChange::Member(workspace, user));
        Ok(())
    }
}
