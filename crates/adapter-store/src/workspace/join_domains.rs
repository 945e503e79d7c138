//! Join domains.

use ::workspace::join_domains::{
    Domain, DomainState, JoinDomain, JoinDomainsRead, JoinDomainsTx, JoinRole, JoinSuggestion,
};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{UserId, WorkspaceId, kind},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, ConnectionTrait, EntityTrait as _, FromQueryResult, JoinType, QueryFilter as _,
    QueryOrder as _, QuerySelect as _, QueryTrait as _, RelationTrait as _, Select,
    sea_query::{Expr, ExprTrait as _, OnConflict},
};

use super::members::member_count;
use crate::{
    convert::RowContext,
    entity::{
        column::{DbId, DbText, DbTime},
        departures::{self, DepartureKind},
        join_domains, members, workspaces,
    },
    error::OrStoreError as _,
    query::{is_live_workspace, literal},
    store::Store,
    tx::StoreTx,
};

fn join_domain(model: join_domains::Model) -> Result<JoinDomain, StoreError> {
    let row = RowContext::new("join_domains", model.workspace_id);
    let state = match (model.verified_at, model.recheck_at) {
        (None, None) => DomainState::Pending,
        (Some(at), Some(recheck_at)) => {
            DomainState::Verified { at: at.0, recheck_at: recheck_at.0, misses: row.number(model.misses)? }
        }
        _ => return Err(row.error("it is verified by half")),
    };
    Ok(JoinDomain {
        workspace: model.workspace_id.0,
        domain: model.domain.0,
        verification_record: model.proof,
        auto_join: model.auto_join,
        role: model.role.0,
        created_at: model.created_at.0,
        state,
    })
}

async fn find_by_workspace(
    db: &impl ConnectionTrait,
    workspace: WorkspaceId,
) -> Result<Option<JoinDomain>, StoreError> {
    let found = join_domains::Entity::find_by_id(workspace).one(db).await.or_store_error()?;
    found.map(join_domain).transpose()
}

/// Selects domains that were proved.
fn verified() -> Select<join_domains::Entity> {
    join_domains::Entity::find().filter(join_domains::Column::VerifiedAt.is_not_null())
}

/// A workspace that somebody may join.
#[derive(FromQueryResult)]
struct SuggestionRow {
    id: DbId<kind::Workspace>,
    name: String,
    role: DbText<JoinRole>,
    member_count: i64,
}

#[span_macros::traced]
#[async_trait]
impl JoinDomainsRead for Store {
    async fn join_domain(&self, workspace: WorkspaceId) -> Result<Option<JoinDomain>, StoreError> {
        find_by_workspace(self.read(), workspace).await
    }

    async fn join_suggestion(
        &self,
        domain: &Domain,
        user: UserId,
        now: Timestamp,
    ) -> Result<Option<JoinSuggestion>, StoreError> {
        let this = (workspaces::Entity, workspaces::Column::Id);
        let own_membership = members::Entity::find()
            .filter(Expr::col((members::Entity, members::Column::WorkspaceId)).equals(this))
            .filter(members::Column::UserId.eq(DbId(user)))
            .select_only()
            .expr(literal(1))
            .into_query();
        let own_removal = departures::Entity::find()
            .filter(Expr::col((departures::Entity, departures::Column::WorkspaceId)).equals(this))
            .filter(departures::Column::UserId.eq(DbId(user)))
            .filter(departures::Column::Kind.eq(DepartureKind::Removed))
            .select_only()
            .expr(literal(1))
            .into_query();
        let found = verified()
            .filter(join_domains::Column::Domain.eq(domain.as_str()))
            .join(JoinType::InnerJoin, join_domains::Relation::Workspace.def())
            .filter(workspaces::Column::DeletedAt.is_null())
            .filter(Expr::exists(own_membership).not())
            .filter(Expr::exists(own_removal).not())
            .select_only()
            .columns([workspaces::Column::Id, workspaces::Column::Name])
            .column(join_domains::Column::Role)
            .expr_as(member_count(now), "member_count")
            .into_model::<SuggestionRow>()
            .one(self.read())
            .await
            .or_store_error()?;
        found
            .map(|found| {
                let row = RowContext::new("join_domains", found.id);
                Ok(JoinSuggestion {
                    workspace: found.id.0,
                    name: found.name,
                    role: found.role.0,
                    member_count: row.number(found.member_count)?,
                })
            })
            .transpose()
    }

    async fn due_join_domains(&self, now: Timestamp, limit: u32) -> Result<Vec<JoinDomain>, StoreError> {
        let found = verified()
            .filter(join_domains::Column::RecheckAt.lte(DbTime(now)))
            .filter(is_live_workspace(Expr::col((join_domains::Entity, join_domains::Column::WorkspaceId))))
            .order_by_asc(join_domains::Column::RecheckAt)
            .limit(u64::from(limit))
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(join_domain).collect()
    }
}

#[span_macros::traced]
#[async_trait]
impl JoinDomainsTx for StoreTx {
    async fn join_domain_of(&mut self, workspace: WorkspaceId) -> Result<Option<JoinDomain>, StoreError> {
        find_by_workspace(self.read(), workspace).await
    }

    async fn verified_join_domain(&mut self, domain: &Domain) -> Result<Option<JoinDomain>, StoreError> {
        let found = verified()
            .filter(join_domains::Column::Domain.eq(domain.as_str()))
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(join_domain).transpose()
    }

    async fn upsert_join_domain(&mut self, domain: &JoinDomain) -> Result<(), StoreError> {
        use join_domains::Column;
        let (verified_at, recheck_at, misses) = match domain.state {
            DomainState::Pending => (None, None, 0),
            DomainState::Verified { at, recheck_at, misses } => (Some(at), Some(recheck_at), misses),
        };
        let row = join_domains::ActiveModel {
            workspace_id: Set(DbId(domain.workspace)),
            domain: Set(DbText(domain.domain.clone())),
            proof: Set(domain.verification_record.clone()),
            auto_join: Set(domain.auto_join),
            role: Set(DbText(domain.role)),
            created_at: Set(DbTime(domain.created_at)),
            verified_at: Set(verified_at.map(DbTime)),
            recheck_at: Set(recheck_at.map(DbTime)),
            misses: Set(misses.into()),
        };
        let replace = OnConflict::column(Column::WorkspaceId)
            .update_columns([
                Column::Domain,
                Column::Proof,
                Column::AutoJoin,
                Column::Role,
                Column::CreatedAt,
                Column::VerifiedAt,
                Column::RecheckAt,
                Column::Misses,
            ])
            .to_owned();
        join_domains::Entity::insert(row)
            .on_conflict(replace)
            .exec_without_returning(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn delete_join_domain(&mut self, workspace: WorkspaceId) -> Result<bool, StoreError> {
        let deleted = join_domains::Entity::delete_by_id(workspace)
            .exec(self.conditional_write())
            .await
            .or_store_error()?;
        if deleted.rows_affected == 0 {
            return Ok(false);
        }
        self.mark_written();
        Ok(true)
    }
}
