//! Deletion of files of versions that nothing needs: beyond the newest of an app, what is not current and what no plan, draft,
//! dead letter or run names.

use std::collections::{BTreeMap, BTreeSet};

use ::apps::{changes::ChangePlan, storage::KEPT_VERSIONS};
use ::runs::dead_letters::DeadLetterState;
use chrono::TimeDelta;
use kernel::{
    StoreError, Timestamp,
    id::{AppId, VersionId, WorkspaceId, kind},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, ConnectionTrait, DatabaseTransaction, DerivePartialModel, EntityTrait as _,
    FromQueryResult, JoinType, QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _,
    RelationTrait as _,
    sea_query::{Expr, ExprTrait as _, OnConflict},
};

use super::{CodeWrite, draft_owner};
use crate::{
    convert::RowContext,
    entity::{
        app_changes, app_drafts, app_versions, apps, code_prunes,
        column::{DbId, DbText, DbTime},
        dead_letters, run_queue, runs,
    },
    error::OrStoreError as _,
    query::{self, ROW_LOCK},
    store::Store,
};

/// Apps that are looked at before other work has its turn.
const BATCH_APPS: u64 = 20;
/// Versions of an app that one transaction takes the files of.
const BATCH_VERSIONS: usize = 50;
/// Time after which versions that something named are looked at again.
const NEXT_LOOK: TimeDelta = TimeDelta::hours(1);
/// Drafts that one sweep deletes; at most.
const BATCH_DRAFTS: u64 = 1_000;

/// An app to look at.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "code_prunes::Entity")]
struct DueRow {
    app_id: DbId<kind::App>,
    workspace_id: DbId<kind::Workspace>,
}

#[derive(DerivePartialModel)]
#[sea_orm(entity = "apps::Entity")]
struct AppRow {
    current_version_id: Option<DbId<kind::Version>>,
}

#[derive(FromQueryResult)]
struct LatestRow {
    latest: Option<i64>,
}

#[derive(DerivePartialModel)]
#[sea_orm(entity = "app_changes::Entity")]
struct PlanRow {
    id: DbId<kind::Change>,
    plan: String,
}

#[derive(FromQueryResult)]
struct NamedRow {
    version_id: Option<DbId<kind::Version>>,
}

#[derive(DerivePartialModel)]
#[sea_orm(entity = "app_drafts::Entity")]
struct DraftRow {
    app_id: DbId<kind::App>,
    owner_id: DbId<kind::User>,
    workspace_id: DbId<kind::Workspace>,
}

/// Notes that an app may have versions whose files nothing needs.
pub(crate) async fn plan_prune(
    db: &impl ConnectionTrait,
    workspace: WorkspaceId,
    app: AppId,
    due: Timestamp,
) -> Result<(), StoreError> {
    let row = code_prunes::ActiveModel {
        app_id: Set(DbId(app)),
        workspace_id: Set(DbId(workspace)),
        due_at: Set(DbTime(due)),
    };
    // An app that waits for its next look is looked at sooner.
    let sooner =
        OnConflict::column(code_prunes::Column::AppId).update_column(code_prunes::Column::DueAt).to_owned();
    code_prunes::Entity::insert(row).on_conflict(sooner).exec_without_returning(db).await.or_store_error()?;
    Ok(())
}

/// Deletes the files of every version of an app that was deleted.
pub(crate) async fn delete_files_of_app(
    code: &mut CodeWrite<'_>,
    db: &DatabaseTransaction,
    app: AppId,
    now: Timestamp,
) -> Result<(), StoreError> {
    use app_versions::Column;
    let versions = app_versions::Entity::find()
        .filter(Column::AppId.eq(DbId(app)))
        .filter(Column::FilesDeletedAt.is_null())
        // Those that are not counted yet have their files in their rows.
        .filter(Column::StoredBytes.is_not_null());
    let versions: Vec<VersionId> = query::ids(versions, Column::Id, db).await?;
    for version in &versions {
        code.replace_files(version.uuid(), &BTreeMap::new()).await?;
    }
    mark_deleted(db, app, &versions, now).await
}

async fn mark_deleted(
    db: &DatabaseTransaction,
    app: AppId,
    versions: &[VersionId],
    now: Timestamp,
) -> Result<(), StoreError> {
    use app_versions::Column;
    for versions in crate::sql::statement_chunks(versions) {
        app_versions::Entity::update_many()
            .col_expr(Column::FilesDeletedAt, Expr::value(DbTime(now)))
            .filter(Column::AppId.eq(DbId(app)))
            .filter(Column::Id.is_in(versions.iter().copied().map(DbId)))
            .exec(db)
            .await
            .or_store_error()?;
    }
    Ok(())
}

impl Store {
    /// Deletes files of versions that nothing needs; returns true if there is more to look at now.
    pub(super) async fn prune_versions(&self, now: Timestamp) -> Result<bool, StoreError> {
        let due = code_prunes::Entity::find()
            .filter(code_prunes::Column::DueAt.lte(DbTime(now)))
            .order_by_asc(code_prunes::Column::DueAt)
            .limit(BATCH_APPS)
            .into_partial_model::<DueRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        let mut has_more = due.len() as u64 == BATCH_APPS;
        for row in due {
            has_more |= self.prune_app(row.workspace_id.0, row.app_id.0, now).await?;
        }
        Ok(has_more)
    }

    /// Deletes files of an app's versions; returns true if it has more.
    async fn prune_app(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        use app_versions::Column;
        let mut tx = self.begin().await?;
        let db = tx.write();
        // A rollback locks the app, too: it finds the version as it is, or finds it without files.
        let found = apps::Entity::find_by_id(app)
            .filter(apps::Column::DeletedAt.is_null())
            .lock(ROW_LOCK)
            .into_partial_model::<AppRow>()
            .one(db)
            .await
            .or_store_error()?;
        let (mut looks_again, mut is_cut) = (false, false);
        if let Some(found) = found {
            let mut code = CodeWrite::begin(db, workspace).await?;
            let latest = app_versions::Entity::find()
                .filter(Column::AppId.eq(DbId(app)))
                .select_only()
                .expr_as(Expr::col(Column::Number).max(), "latest")
                .into_model::<LatestRow>()
                .one(db)
                .await
                .or_store_error()?;
            let latest = latest.and_then(|row| row.latest).unwrap_or_default();
            // Whoever starts a run of a version shares its lock: the run is there, or is refused.
            let old = app_versions::Entity::find()
                .filter(Column::AppId.eq(DbId(app)))
                .filter(Column::FilesDeletedAt.is_null())
                .filter(Column::StoredBytes.is_not_null())
                .filter(Column::Number.lte(latest - i64::from(KEPT_VERSIONS)))
                .order_by_asc(Column::Number)
                .lock(ROW_LOCK);
            let old: Vec<VersionId> = query::ids(old, Column::Id, db).await?;
            let named = self.named_versions(db, (workspace, app), now).await?;
            let current = found.current_version_id.map(DbId::into_inner);
            let mut unused: Vec<VersionId> = old.iter().copied().filter(|id| !named.contains(id)).collect();
            unused.retain(|id| Some(*id) != current);
            is_cut = unused.len() > BATCH_VERSIONS;
            looks_again = is_cut || unused.len() < old.len();
            unused.truncate(BATCH_VERSIONS);
            for version in &unused {
                code.replace_files(version.uuid(), &BTreeMap::new()).await?;
            }
            mark_deleted(db, app, &unused, now).await?;
            code.finish_unchecked().await?;
            let next = if is_cut { now } else { now + NEXT_LOOK };
            if looks_again {
                plan_prune(db, workspace, app, next).await?;
            }
        }
        if !looks_again {
            code_prunes::Entity::delete_by_id(DbId::<kind::App>(app)).exec(db).await.or_store_error()?;
        }
        tx.commit_unaudited().await?;
        Ok(is_cut)
    }

    /// Returns the versions of an app that an open plan, a draft, an open dead letter, or a run that has not ended names.
    async fn named_versions(
        &self,
        db: &DatabaseTransaction,
        (workspace, app): (WorkspaceId, AppId),
        now: Timestamp,
    ) -> Result<BTreeSet<VersionId>, StoreError> {
        let drafts = app_drafts::Entity::find()
            .filter(app_drafts::Column::AppId.eq(DbId(app)))
            .filter(app_drafts::Column::BaseVersionId.is_not_null())
            .select_only()
            .column_as(app_drafts::Column::BaseVersionId, "version_id");
        let letters = dead_letters::Entity::find()
            .filter(dead_letters::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(dead_letters::Column::AppId.eq(DbId(app)))
            // Written out, so that the index of open ones serves.
            .filter(
                Expr::col((dead_letters::Entity, dead_letters::Column::State))
                    .eq(query::literal(DbText(DeadLetterState::Open))),
            )
            .filter(dead_letters::Column::VersionId.is_not_null())
            .select_only()
            .column(dead_letters::Column::VersionId)
            .distinct();
        let runs = run_queue::Entity::find()
            .join(JoinType::InnerJoin, run_queue::Relation::Run.def())
            .filter(run_queue::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(runs::Column::AppId.eq(DbId(app)))
            .filter(runs::Column::VersionId.is_not_null())
            .select_only()
            .column(runs::Column::VersionId)
            .distinct();
        let mut named = BTreeSet::new();
        // A run that ends between two of these statements leaves a dead letter.
        for statement in [runs.into_query(), letters.into_query(), drafts.into_query()] {
            let found: Vec<NamedRow> = query::fetch_all(&statement, db).await?;
            named.extend(found.into_iter().filter_map(|row| row.version_id).map(DbId::into_inner));
        }
        let plans = app_changes::Entity::find()
            .filter(app_changes::Column::AppId.eq(DbId(app)))
            .filter(app_changes::Column::ExpiresAt.gt(DbTime(now)))
            .into_partial_model::<PlanRow>()
            .all(db)
            .await
            .or_store_error()?;
        for row in plans {
            let plan: ChangePlan = RowContext::new("app_changes", row.id).json(&row.plan)?;
            named.insert(plan.base);
        }
        Ok(named)
    }

    /// Deletes drafts that have expired, with their files; what is left goes the next time.
    pub(crate) async fn delete_expired_drafts(&self, now: Timestamp) -> Result<(), StoreError> {
        use app_drafts::Column;
        let expired = app_drafts::Entity::find()
            .filter(Column::ExpiresAt.lte(DbTime(now)))
            .limit(BATCH_DRAFTS)
            .into_partial_model::<DraftRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        for draft in expired {
            let mut tx = self.begin().await?;
            let db = tx.write();
            let deleted = app_drafts::Entity::delete_by_id((draft.app_id, draft.owner_id))
                // It may have been saved again meanwhile.
                .filter(Column::ExpiresAt.lte(DbTime(now)))
                .exec(db)
                .await
                .or_store_error()?;
            if deleted.rows_affected > 0 {
                let mut code = CodeWrite::begin(db, draft.workspace_id.0).await?;
                let owner = draft_owner(draft.app_id.0, draft.owner_id.0);
                code.replace_files(owner, &BTreeMap::new()).await?;
                code.finish_unchecked().await?;
                tx.commit_unaudited().await?;
            }
        }
        Ok(())
    }
}
