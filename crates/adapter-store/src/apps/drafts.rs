//! Drafts.

use std::collections::BTreeMap;

use ::apps::drafts::{Draft, DraftsRead, DraftsTx};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{AppId, UserId, WorkspaceId},
};
use sea_orm::{
    ActiveValue::Set, ColumnTrait as _, ConnectionTrait, EntityTrait as _, QueryFilter as _,
    QuerySelect as _, Select, sea_query::OnConflict,
};

use crate::{
    code_files::{self, CodeWrite, STORED_APART, draft_owner},
    convert::{RowContext, to_json},
    entity::{
        app_drafts,
        column::{DbId, DbTime},
    },
    error::OrStoreError as _,
    store::Store,
    tx::StoreTx,
};

/// Selects a person's draft of an app.
fn draft_of(workspace: WorkspaceId, app: AppId, owner: UserId) -> Select<app_drafts::Entity> {
    app_drafts::Entity::find_by_id((DbId(app), DbId(owner)))
        .filter(app_drafts::Column::WorkspaceId.eq(DbId(workspace)))
}

/// Returns a draft of a row, with its files.
async fn draft(db: &impl ConnectionTrait, model: app_drafts::Model) -> Result<Draft, StoreError> {
    let files = match model.files.as_str() {
        code_files::STORED_APART => {
            code_files::files_of(db, draft_owner(model.app_id.0, model.owner_id.0)).await?
        }
        inline => RowContext::new("app_drafts", model.app_id).json(inline)?,
    };
    Ok(Draft {
        workspace: model.workspace_id.0,
        app: model.app_id.0,
        owner: model.owner_id.0,
        base: model.base_version_id.map(DbId::into_inner),
        files,
        saved_at: model.saved_at.0,
        expires_at: model.expires_at.0,
    })
}

#[span_macros::traced]
#[async_trait]
impl DraftsRead for Store {
    async fn draft(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        owner: UserId,
        now: Timestamp,
    ) -> Result<Option<Draft>, StoreError> {
        let kept = draft_of(workspace, app, owner).filter(app_drafts::Column::ExpiresAt.gt(DbTime(now)));
        match kept.one(self.read()).await.or_store_error()? {
            Some(found) => draft(self.read(), found).await.map(Some),
            None => Ok(None),
        }
    }
}

#[span_macros::traced]
#[async_trait]
impl DraftsTx for StoreTx {
    async fn draft_for_update(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        owner: UserId,
    ) -> Result<Option<Draft>, StoreError> {
        let found =
            draft_of(workspace, app, owner).lock_exclusive().one(self.write()).await.or_store_error()?;
        match found {
            Some(found) => draft(self.read(), found).await.map(Some),
            None => Ok(None),
        }
    }

    async fn save_draft(&mut self, draft: &Draft) -> Result<(), StoreError> {
        use app_drafts::Column;
        let is_apart = code_files::is_in_use(self.read()).await?;
        let row = app_drafts::ActiveModel {
            app_id: Set(DbId(draft.app)),
            owner_id: Set(DbId(draft.owner)),
            workspace_id: Set(DbId(draft.workspace)),
            base_version_id: Set(draft.base.map(DbId)),
            files: Set(if is_apart { STORED_APART.to_owned() } else { to_json(&draft.files)? }),
            saved_at: Set(DbTime(draft.saved_at)),
            expires_at: Set(DbTime(draft.expires_at)),
        };
        let replace = OnConflict::columns([Column::AppId, Column::OwnerId])
            .update_columns([Column::BaseVersionId, Column::Files, Column::SavedAt, Column::ExpiresAt])
            .to_owned();
        let insert = app_drafts::Entity::insert(row).on_conflict(replace);
        let db = self.write();
        insert.exec_without_returning(db).await.or_store_error()?;
        if is_apart {
            let mut code = CodeWrite::begin(db, draft.workspace).await?;
            code.replace_files(draft_owner(draft.app, draft.owner), &draft.files).await?;
            code.finish().await?;
        }
        Ok(())
    }

    async fn delete_draft(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        owner: UserId,
    ) -> Result<bool, StoreError> {
        use app_drafts::Column;
        let deleted = app_drafts::Entity::delete_many()
            .filter(Column::AppId.eq(DbId(app)))
            .filter(Column::OwnerId.eq(DbId(owner)))
            .filter(Column::WorkspaceId.eq(DbId(workspace)));
        let db = self.write();
        if deleted.exec(db).await.or_store_error()?.rows_affected == 0 {
            return Ok(false);
        }
        let mut code = CodeWrite::begin(db, workspace).await?;
        code.replace_files(draft_owner(app, owner), &BTreeMap::new()).await?;
        code.finish_unchecked().await?;
        Ok(true)
    }
}
