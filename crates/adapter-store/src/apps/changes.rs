//! Planned changes.

use std::collections::{BTreeSet, HashMap};

use ::apps::{
    AppsRead as _,
    changes::{Change, ChangeEffects, ChangeOutcome, ChangesRead, ChangesTx, MAX_OPEN, OpenChange},
};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    authority::Visibility,
    id::{AppId, ChangeId, UserId, WorkspaceId, kind},
};
use sea_orm::{
    ActiveValue::Set, ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _, Select, sea_query::Expr,
};

use crate::{
    apps::visible_app_ids,
    convert::{RowContext, to_json},
    entity::{
        app_change_effects, app_changes,
        column::{DbId, DbTime},
    },
    error::OrStoreError as _,
    query,
    store::Store,
    tx::StoreTx,
};

fn change(model: &app_changes::Model) -> Result<Change, StoreError> {
    let row = RowContext::new("app_changes", model.id);
    Ok(Change {
        id: model.id.0,
        workspace: model.workspace_id.0,
        app: model.app_id.0,
        owner: model.owner_id.0,
        run: model.run_id.map(DbId::into_inner),
        plan: row.json(&model.plan)?,
        created_at: model.created_at.0,
        expires_at: model.expires_at.0,
        outcome: match (model.version_id, &model.failure) {
            (Some(version), _) => Some(ChangeOutcome::Live(version.0)),
            (None, Some(failure)) => Some(ChangeOutcome::Failed(failure.clone())),
            (None, None) => None,
        },
    })
}

/// Selects a change that a person planned.
fn change_of(workspace: WorkspaceId, owner: UserId, id: ChangeId) -> Select<app_changes::Entity> {
    app_changes::Entity::find_by_id(id)
        .filter(app_changes::Column::WorkspaceId.eq(DbId(workspace)))
        .filter(app_changes::Column::OwnerId.eq(DbId(owner)))
}

/// Selects the changes that a person planned and that wait for them.
fn select_open(workspace: WorkspaceId, owner: UserId, now: Timestamp) -> Select<app_changes::Entity> {
    app_changes::Entity::find()
        .filter(app_changes::Column::OwnerId.eq(DbId(owner)))
        .filter(app_changes::Column::WorkspaceId.eq(DbId(workspace)))
        .filter(app_changes::Column::ExpiresAt.gt(DbTime(now)))
        .filter(app_changes::Column::VersionId.is_null())
        .filter(app_changes::Column::Failure.is_null())
}

#[span_macros::traced]
#[async_trait]
impl ChangesRead for Store {
    async fn app_of_change(&self, owner: UserId, id: ChangeId) -> Result<Option<AppId>, StoreError> {
        use app_changes::Column;
        let change = app_changes::Entity::find_by_id(id).filter(Column::OwnerId.eq(DbId(owner)));
        let app = change.select_only().column(Column::AppId).into_tuple::<DbId<kind::App>>();
        Ok(app.one(self.read()).await.or_store_error()?.map(|app| app.0))
    }

    async fn change(
        &self,
        workspace: WorkspaceId,
        owner: UserId,
        id: ChangeId,
    ) -> Result<Option<Change>, StoreError> {
        let found = change_of(workspace, owner, id).one(self.read()).await.or_store_error()?;
        found.as_ref().map(change).transpose()
    }

    async fn open_changes(
        &self,
        workspace: WorkspaceId,
        owner: UserId,
        visible: Visibility,
        now: Timestamp,
    ) -> Result<Vec<OpenChange>, StoreError> {
        let found = select_open(workspace, owner, now)
            .filter(app_changes::Column::AppId.in_subquery(visible_app_ids(workspace, visible)))
            .order_by_desc(app_changes::Column::Id)
            .limit(MAX_OPEN)
            .all(self.read())
            .await
            .or_store_error()?;
        let apps: BTreeSet<AppId> = found.iter().map(|model| model.app_id.0).collect();
        let apps = self.apps_by_id(workspace, &Vec::from_iter(apps)).await?;
        let names: HashMap<AppId, String> = apps.into_iter().map(|app| (app.id, app.name)).collect();
        let open = |model: &app_changes::Model| {
            let app_name = names.get(&model.app_id.0).cloned().unwrap_or_default();
            Ok(OpenChange { change: change(model)?, app_name })
        };
        found.iter().map(open).collect()
    }
}

#[span_macros::traced]
#[async_trait]
impl ChangesTx for StoreTx {
    async fn count_open_changes(
        &mut self,
        workspace: WorkspaceId,
        owner: UserId,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        query::count(select_open(workspace, owner, now), self.read()).await
    }

    async fn insert_change(&mut self, change: &Change) -> Result<(), StoreError> {
        let row = app_changes::ActiveModel {
            id: Set(DbId(change.id)),
            workspace_id: Set(DbId(change.workspace)),
            app_id: Set(DbId(change.app)),
            owner_id: Set(DbId(change.owner)),
            run_id: Set(change.run.map(DbId)),
            plan: Set(to_json(&change.plan)?),
            created_at: Set(DbTime(change.created_at)),
            expires_at: Set(DbTime(change.expires_at)),
            version_id: Set(None),
            failure: Set(None),
        };
        app_changes::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn change_for_update(
        &mut self,
        workspace: WorkspaceId,
        owner: UserId,
        id: ChangeId,
    ) -> Result<Option<Change>, StoreError> {
        let locked = change_of(workspace, owner, id).lock_exclusive();
        let found = locked.one(self.write()).await.or_store_error()?;
        found.as_ref().map(change).transpose()
    }

    async fn insert_change_effects(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        effects: &ChangeEffects,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let row = app_change_effects::ActiveModel {
            change_id: Set(DbId(effects.change)),
            workspace_id: Set(DbId(workspace)),
            app_id: Set(DbId(app)),
            version_number: Set(effects.version_number.into()),
            at: Set(DbTime(at)),
            effects: Set(to_json(&effects.effects)?),
        };
        app_change_effects::Entity::insert(row)
            .exec_without_returning(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn change_effects(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        (after, up_to): (u32, u32),
    ) -> Result<Vec<ChangeEffects>, StoreError> {
        use app_change_effects::Column;
        let found = app_change_effects::Entity::find()
            .filter(Column::AppId.eq(DbId(app)))
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .filter(Column::VersionNumber.gt(i64::from(after)))
            .filter(Column::VersionNumber.lte(i64::from(up_to)))
            .order_by_desc(Column::At)
            .order_by_desc(Column::ChangeId)
            .all(self.read())
            .await
            .or_store_error()?;
        let effects = |model: &app_change_effects::Model| {
            let row = RowContext::new("app_change_effects", model.change_id);
            Ok(ChangeEffects {
                change: model.change_id.0,
                version_number: row.number(model.version_number)?,
                effects: row.json(&model.effects)?,
            })
        };
        found.iter().map(effects).collect()
    }

    async fn settle_change(&mut self, id: ChangeId, outcome: &ChangeOutcome) -> Result<(), StoreError> {
        use app_changes::Column;
        let change = app_changes::Entity::update_many().filter(Column::Id.eq(DbId(id)));
        let settled = match outcome {
            ChangeOutcome::Live(version) => change.col_expr(Column::VersionId, Expr::value(DbId(*version))),
            ChangeOutcome::Failed(message) => change.col_expr(Column::Failure, Expr::value(message.clone())),
        };
        settled.exec(self.write()).await.or_store_error()?;
        Ok(())
    }
}
