//! Workspaces, and memberships as requests ask for them.

use std::sync::Arc;

use ::workspace::{
    Plan, Workspace, WorkspaceRead, WorkspaceSummary, WorkspaceTx,
    workspaces::{Profile, deletion::DeletedWorkspace},
};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    authority::{MembershipFact, Role},
    id::{UserId, WorkspaceId, kind},
    page::PageRequest,
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, EntityTrait as _, FromQueryResult, JoinType, QueryFilter as _, QueryOrder as _,
    QuerySelect as _, QueryTrait as _, RelationTrait as _, Select,
    sea_query::{Expr, ExprTrait as _, OnConflict},
};

use super::members::member_count;
use crate::{
    caller_cache::CallerChange,
    convert::{RowContext, to_json},
    entity::{
        column::{DbId, DbText, DbTime},
        members, users, workspaces,
    },
    error::OrStoreError as _,
    query::{self, ROW_LOCK, is_live_workspace, unset_or_after},
    store::Store,
    tx::StoreTx,
};

fn workspace(model: workspaces::Model) -> Result<Workspace, StoreError> {
    let row = RowContext::new("workspaces", model.id);
    Ok(Workspace {
        id: model.id.0,
        profile: model.profile.0,
        team_size: model.team_size.0,
        intents: row.json(&model.intents)?,
        locale: model.locale.0,
        currency: model.currency.0,
        hourly_cost_minor: row.number(model.hourly_cost_minor)?,
        plan: model.plan.0,
        created_at: model.created_at.0,
        slug: model.slug,
        name: model.name,
        timezone: model.timezone,
    })
}

/// A workspace in a person's list.
#[derive(FromQueryResult)]
struct SummaryRow {
    id: DbId<kind::Workspace>,
    name: String,
    slug: String,
    profile: DbText<Profile>,
    role: DbText<Role>,
    member_count: i64,
    deleted_at: Option<DbTime>,
}

impl SummaryRow {
    fn into_summary(self) -> Result<WorkspaceSummary, StoreError> {
        let row = RowContext::new("workspaces", self.id);
        Ok(WorkspaceSummary {
            id: self.id.0,
            name: self.name,
            slug: self.slug,
            profile: self.profile.0,
            role: self.role.0,
            member_count: row.number(self.member_count)?,
        })
    }
}

/// Selects the workspaces that a person has access to, deleted ones too, oldest first.
fn summaries(user: UserId, now: Timestamp) -> Select<members::Entity> {
    use workspaces::Column;
    members::Entity::find()
        .filter(members::Column::UserId.eq(DbId(user)))
        .filter(unset_or_after(members::Column::AccessEndsAt, now))
        .join(JoinType::InnerJoin, members::Relation::Workspace.def())
        .select_only()
        .columns([Column::Id, Column::Name, Column::Slug, Column::Profile, Column::DeletedAt])
        .column(members::Column::Role)
        .expr_as(member_count(now), "member_count")
        .order_by_asc(members::Column::WorkspaceId)
}

/// Selects the workspaces that a person has access to and that are not deleted, oldest first.
fn live_summaries(user: UserId, now: Timestamp) -> Select<members::Entity> {
    summaries(user, now).filter(workspaces::Column::DeletedAt.is_null())
}

/// Selects a workspace that is not deleted.
fn live_workspace(id: WorkspaceId) -> Select<workspaces::Entity> {
    workspaces::Entity::find_by_id(id).filter(workspaces::Column::DeletedAt.is_null())
}

fn membership_fact(model: &members::Model) -> MembershipFact {
    MembershipFact {
        workspace: model.workspace_id.0,
        user: model.user_id.0,
        role: model.role.0,
        access_ends_at: model.access_ends_at.map(DbTime::into_inner),
    }
}

#[span_macros::traced]
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
        let key = (DbId(workspace), DbId(user));
        let found = members::Entity::find_by_id(key)
            .filter(is_live_workspace(Expr::value(DbId(workspace))))
            .one(self.read())
            .await
            .or_store_error()?;
        let fact = found.as_ref().map(membership_fact);
        cache.insert(|all| &all.members, (workspace, user), fact.clone());
        Ok(fact)
    }

    async fn workspace(&self, id: WorkspaceId) -> Result<Option<Workspace>, StoreError> {
        let cache = self.cache_view().await;
        if let Some(workspace) = cache.get(|all| &all.workspaces, &id) {
            return Ok(Some(Workspace::clone(&workspace)));
        }
        let found = live_workspace(id).one(self.read()).await.or_store_error()?;
        let found = found.map(workspace).transpose()?;
        if let Some(workspace) = &found {
            cache.insert(|all| &all.workspaces, id, Arc::new(workspace.clone()));
        }
        Ok(found)
    }

    async fn creator(&self, workspace: WorkspaceId) -> Result<Option<UserId>, StoreError> {
        let found = workspaces::Entity::find_by_id(DbId(workspace)).select_only();
        let found = found.column(workspaces::Column::CreatedBy).into_tuple::<Option<DbId<kind::User>>>();
        let found = found.one(self.read()).await.or_store_error()?;
        Ok(found.flatten().map(|person| person.0))
    }

    async fn membership_in_deleted(
        &self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<MembershipFact>, StoreError> {
        let found = members::Entity::find_by_id((DbId(workspace), DbId(user)))
            .join(JoinType::InnerJoin, members::Relation::Workspace.def())
            .filter(workspaces::Column::DeletedAt.is_not_null())
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.as_ref().map(membership_fact))
    }

    async fn member_count(&self, workspace: WorkspaceId, now: Timestamp) -> Result<u64, StoreError> {
        let members = members::Entity::find()
            .filter(members::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(unset_or_after(members::Column::AccessEndsAt, now));
        query::count(members, self.read()).await
    }

    async fn deleted_workspaces_of(
        &self,
        user: UserId,
        since: Timestamp,
        now: Timestamp,
        page: PageRequest,
    ) -> Result<Vec<DeletedWorkspace>, StoreError> {
        let found = summaries(user, now)
            .filter(members::Column::Role.eq(DbText(Role::Owner)))
            .filter(workspaces::Column::DeletedAt.gt(DbTime(since)))
            .filter(workspaces::Column::PurgeStartedAt.is_null())
            .apply_if(page.after, |query, after| query.filter(members::Column::WorkspaceId.gt(after)))
            .limit(u64::from(page.limit) + 1)
            .into_model::<SummaryRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        let deleted = found.into_iter().map(|found| {
            let row = RowContext::new("workspaces", found.id);
            let deleted_at = found.deleted_at.ok_or_else(|| row.error("its deletion has no time"))?;
            Ok(DeletedWorkspace { summary: found.into_summary()?, deleted_at: deleted_at.0 })
        });
        deleted.collect()
    }

    async fn workspaces_of(&self, user: UserId, now: Timestamp) -> Result<Vec<WorkspaceSummary>, StoreError> {
        self.summaries(live_summaries(user, now)).await
    }

    async fn workspace_page(
        &self,
        user: UserId,
        now: Timestamp,
        page: PageRequest,
    ) -> Result<Vec<WorkspaceSummary>, StoreError> {
        let page_of = live_summaries(user, now)
            .apply_if(page.after, |query, after| query.filter(members::Column::WorkspaceId.gt(after)))
            .limit(u64::from(page.limit) + 1);
        self.summaries(page_of).await
    }
}

impl Store {
    async fn summaries(&self, select: Select<members::Entity>) -> Result<Vec<WorkspaceSummary>, StoreError> {
        let found = select.into_model::<SummaryRow>().all(self.read()).await.or_store_error()?;
        found.into_iter().map(SummaryRow::into_summary).collect()
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
        workspace_id: Set(DbId(workspace)),
        user_id: Set(DbId(user)),
        role: Set(DbText(role)),
        joined_at: Set(DbTime(joined_at)),
        access_ends_at: Set(None),
    }
}

#[span_macros::traced]
#[async_trait]
impl WorkspaceTx for StoreTx {
    async fn insert_workspace(&mut self, workspace: &Workspace) -> Result<(), StoreError> {
        let row = workspaces::ActiveModel {
            id: Set(DbId(workspace.id)),
            slug: Set(workspace.slug.clone()),
            name: Set(workspace.name.clone()),
            profile: Set(DbText(workspace.profile)),
            team_size: Set(DbText(workspace.team_size)),
            intents: Set(to_json(&workspace.intents)?),
            locale: Set(DbText(workspace.locale)),
            timezone: Set(workspace.timezone.clone()),
            currency: Set(DbText(workspace.currency)),
            hourly_cost_minor: Set(workspace.hourly_cost_minor.into()),
            plan: Set(DbText(workspace.plan)),
            revision: Set(1),
            created_at: Set(DbTime(workspace.created_at)),
            deleted_at: Set(None),
            deleted_by: Set(None),
            purge_started_at: Set(None),
            created_by: Set(None),
        };
        workspaces::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn record_creator(&mut self, workspace: WorkspaceId, creator: UserId) -> Result<u64, StoreError> {
        use workspaces::Column;
        // Whoever creates two at once is counted one after the other.
        let person = users::Entity::find_by_id(creator).lock(ROW_LOCK);
        query::ids::<_, kind::User>(person, users::Column::Id, self.read()).await?;
        workspaces::Entity::update_many()
            .col_expr(Column::CreatedBy, Expr::value(DbId::<kind::User>(creator)))
            .filter(Column::Id.eq(DbId(workspace)))
            .exec(self.write())
            .await
            .or_store_error()?;
        let created = workspaces::Entity::find().filter(Column::CreatedBy.eq(DbId(creator)));
        query::count(created, self.read()).await
    }

    async fn workspace_for_update(&mut self, id: WorkspaceId) -> Result<Option<Workspace>, StoreError> {
        let found = live_workspace(id).lock(ROW_LOCK).one(self.read()).await.or_store_error()?;
        found.map(workspace).transpose()
    }

    async fn update_workspace(&mut self, workspace: &Workspace) -> Result<(), StoreError> {
        let changes = workspaces::ActiveModel {
            name: Set(workspace.name.clone()),
            locale: Set(DbText(workspace.locale)),
            timezone: Set(workspace.timezone.clone()),
            currency: Set(DbText(workspace.currency)),
            hourly_cost_minor: Set(workspace.hourly_cost_minor.into()),
            ..Default::default()
        };
        workspaces::Entity::update_many()
            .set(changes)
            .filter(workspaces::Column::Id.eq(DbId(workspace.id)))
            .exec(self.write())
            .await
            .or_store_error()?;
        self.invalidate_caller(CallerChange::Workspace(workspace.id));
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
            .col_expr(workspaces::Column::Plan, Expr::value(DbText(plan)))
            .col_expr(workspaces::Column::Revision, Expr::col(workspaces::Column::Revision).add(1))
            .filter(workspaces::Column::Id.eq(DbId(workspace)))
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
