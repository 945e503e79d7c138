//! Members of workspaces, and how they left.

use ::workspace::members::{LeaveReason, MemberPosition, MembersRead, MembersTx, Membership, WorkspaceInfo};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    authority::Role,
    id::{UserId, WorkspaceId},
    page::PageRequest,
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, DerivePartialModel, EntityTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _, QueryTrait as _, Select,
    sea_query::{Expr, ExprTrait as _, Func, OnConflict, SelectStatement},
};

use crate::{
    caller_cache::CallerChange,
    entity::{
        column::{DbId, DbText, DbTime},
        departures::{self, DepartureKind},
        members, notification_settings, workspaces,
    },
    error::OrStoreError as _,
    query::{self, ROW_LOCK, unset_or_after},
    store::Store,
    tx::StoreTx,
};

impl From<members::Model> for Membership {
    fn from(model: members::Model) -> Self {
        Self {
            user: model.user_id.0,
            role: model.role.0,
            joined_at: model.joined_at.0,
            access_ends_at: model.access_ends_at.map(DbTime::into_inner),
        }
    }
}

/// Selects a workspace's members.
fn members_of(workspace: WorkspaceId) -> Select<members::Entity> {
    members::Entity::find().filter(members::Column::WorkspaceId.eq(DbId(workspace)))
}

/// Selects the number of people who have access to the workspace of the row around, as a subquery.
pub(super) fn member_count(now: Timestamp) -> SelectStatement {
    use sea_orm::sea_query::{Asterisk, Query};

    let of = |column| Expr::col(("other", column));
    Query::select()
        .expr(Func::count(Expr::col(Asterisk)))
        .from_as(members::Entity, "other")
        .and_where(of(members::Column::WorkspaceId).equals((workspaces::Entity, workspaces::Column::Id)))
        .and_where(
            of(members::Column::AccessEndsAt)
                .is_null()
                .or(of(members::Column::AccessEndsAt).gt(Expr::val(DbTime(now)))),
        )
        .to_owned()
}

#[span_macros::traced]
#[async_trait]
impl MembersRead for Store {
    async fn members(
        &self,
        workspace: WorkspaceId,
        now: Timestamp,
        page: PageRequest<MemberPosition>,
    ) -> Result<Vec<Membership>, StoreError> {
        use members::Column;
        let wanted = page.limit as usize + 1;
        let mut found = Vec::new();
        // The index has the members of a role in the order of the list, and the roles in that of their names.
        for role in Role::ALL.into_iter().filter(|role| page.after.is_none_or(|after| *role >= after.role)) {
            if found.len() == wanted {
                break;
            }
            let after = page.after.filter(|after| after.role == role);
            let of_role = members_of(workspace)
                .filter(Column::Role.eq(DbText(role)))
                .filter(unset_or_after(Column::AccessEndsAt, now))
                .apply_if(after, |query, after| {
                    let place = Expr::tuple([Expr::col(Column::JoinedAt), Expr::col(Column::UserId)]);
                    let last = [Expr::value(DbTime(after.joined_at)), Expr::value(DbId(after.user))];
                    query.filter(place.gt(Expr::tuple(last)))
                })
                .order_by_asc(Column::JoinedAt)
                .order_by_asc(Column::UserId)
                .limit((wanted - found.len()) as u64)
                .all(self.read())
                .await
                .or_store_error()?;
            found.extend(of_role.into_iter().map(Membership::from));
        }
        Ok(found)
    }
}

/// A workspace as mails name it.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "workspaces::Entity")]
struct WorkspaceInfoRow {
    name: String,
    locale: DbText<kernel::Locale>,
}

#[span_macros::traced]
#[async_trait]
impl MembersTx for StoreTx {
    async fn lock_members(&mut self, workspace: WorkspaceId) -> Result<Option<WorkspaceInfo>, StoreError> {
        let found = workspaces::Entity::find_by_id(workspace)
            .filter(workspaces::Column::DeletedAt.is_null())
            .lock(ROW_LOCK)
            .into_partial_model::<WorkspaceInfoRow>()
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.map(|row| WorkspaceInfo { name: row.name, locale: row.locale.0 }))
    }

    async fn membership_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<Membership>, StoreError> {
        let key = (DbId(workspace), DbId(user));
        let found = members::Entity::find_by_id(key).one(self.read()).await.or_store_error()?;
        Ok(found.map(Membership::from))
    }

    async fn count_owners(&mut self, workspace: WorkspaceId, now: Timestamp) -> Result<u64, StoreError> {
        let owners = members_of(workspace)
            .filter(members::Column::Role.eq(DbText(Role::Owner)))
            .filter(unset_or_after(members::Column::AccessEndsAt, now));
        query::count(owners, self.read()).await
    }

    async fn upsert_membership(
        &mut self,
        workspace: WorkspaceId,
        membership: &Membership,
    ) -> Result<(), StoreError> {
        use members::Column;
        let row = members::ActiveModel {
            workspace_id: Set(DbId(workspace)),
            user_id: Set(DbId(membership.user)),
            role: Set(DbText(membership.role)),
            joined_at: Set(DbTime(membership.joined_at)),
            access_ends_at: Set(membership.access_ends_at.map(DbTime)),
        };
        let replace = OnConflict::columns([Column::WorkspaceId, Column::UserId])
            .update_columns([Column::Role, Column::JoinedAt, Column::AccessEndsAt])
            .to_owned();
        self.invalidate_caller(CallerChange::Member(workspace, membership.user));
        members::Entity::insert(row)
            .on_conflict(replace)
            .exec_without_returning(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn delete_membership(&mut self, workspace: WorkspaceId, user: UserId) -> Result<(), StoreError> {
        self.invalidate_caller(CallerChange::Member(workspace, user));
        let key = || (DbId(workspace), DbId(user));
        notification_settings::Entity::delete_by_id(key()).exec(self.write()).await.or_store_error()?;
        members::Entity::delete_by_id(key()).exec(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn leave_reason(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Option<LeaveReason>, StoreError> {
        let key = (DbId(workspace), DbId(user));
        let found = departures::Entity::find_by_id(key).one(self.read()).await.or_store_error()?;
        Ok(found.map(|model| match model.kind {
            DepartureKind::Left => LeaveReason::Left,
            DepartureKind::Removed => LeaveReason::Removed,
        }))
    }

    async fn set_leave_reason(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        departure: Option<(LeaveReason, Timestamp)>,
    ) -> Result<(), StoreError> {
        use departures::Column;
        let Some((reason, at)) = departure else {
            let key = (DbId(workspace), DbId(user));
            departures::Entity::delete_by_id(key).exec(self.write()).await.or_store_error()?;
            return Ok(());
        };
        let kind = match reason {
            LeaveReason::Left => DepartureKind::Left,
            LeaveReason::Removed => DepartureKind::Removed,
        };
        let row = departures::ActiveModel {
            workspace_id: Set(DbId(workspace)),
            user_id: Set(DbId(user)),
            kind: Set(kind),
            at: Set(DbTime(at)),
        };
        let replace = OnConflict::columns([Column::WorkspaceId, Column::UserId])
            .update_columns([Column::Kind, Column::At])
            .to_owned();
        departures::Entity::insert(row)
            .on_conflict(replace)
            .exec_without_returning(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }
}
