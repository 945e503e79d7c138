//! Writes of apps and versions.

use std::collections::BTreeMap;

use ::apps::{
    App, AppVersion, AppsTx,
    access::{AppGrant, PreviousAccess},
    storage::KEPT_VERSIONS,
    versions::{Rollback, VersionContent},
};
use ::imports::imports::ImportStatus;
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    authority::Sharing,
    id::{AppId, UserId, VersionId, WorkspaceId, kind},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, DerivePartialModel, EntityTrait as _, FromQueryResult, QueryFilter as _,
    QuerySelect as _, QueryTrait as _,
    sea_query::{Expr, ExprTrait as _},
};

use crate::{
    apps::read::{app_grants_of, version_with_content},
    caller_cache::CallerChange,
    code_files::{
        self, CodeWrite, STORED_APART, delete_files_of_app, draft_owner, plan_prune, version_bytes,
    },
    convert::{RowContext, to_json},
    entity::{
        app_drafts, app_grants, app_rollbacks, app_secrets, app_versions, apps, automations,
        column::{DbId, DbText, DbTime},
        imports, members,
    },
    error::OrStoreError as _,
    query,
    runs::write::delete_automation_cascade,
    tx::StoreTx,
};

#[span_macros::traced]
#[async_trait]
impl AppsTx for StoreTx {
    async fn insert_app(&mut self, app: &App) -> Result<(), StoreError> {
        let row = apps::ActiveModel {
            id: Set(DbId(app.id)),
            workspace_id: Set(DbId(app.workspace)),
            slug: Set(app.slug.clone()),
            name: Set(app.name.clone()),
            description: Set(app.description.clone()),
            archetype: Set(app.archetype.clone()),
            category: Set(DbText(app.category)),
            sharing: Set(DbText(app.sharing)),
            paused: Set(app.is_paused),
            in_review: Set(app.is_in_review),
            current_version_id: Set(app.current_version.map(DbId)),
            declares_webhook: Set(false),
            declares_form: Set(false),
            created_by: Set(DbId(app.created_by)),
            created_at: Set(DbTime(app.created_at)),
            deleted_at: Set(None),
            revision: Set(1),
        };
        apps::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn app_for_update(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
    ) -> Result<Option<App>, StoreError> {
        let found = apps::Entity::find_by_id(app)
            .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(apps::Column::DeletedAt.is_null())
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.map(App::from))
    }

    async fn update_app(&mut self, app: &App) -> Result<(), StoreError> {
        let (declares_webhook, declares_form) = match app.current_version {
            Some(version) => self.declared_triggers(version).await?,
            None => (false, false),
        };
        let changes = apps::ActiveModel {
            name: Set(app.name.clone()),
            description: Set(app.description.clone()),
            archetype: Set(app.archetype.clone()),
            category: Set(DbText(app.category)),
            paused: Set(app.is_paused),
            in_review: Set(app.is_in_review),
            current_version_id: Set(app.current_version.map(DbId)),
            declares_webhook: Set(declares_webhook),
            declares_form: Set(declares_form),
            ..Default::default()
        };
        apps::Entity::update_many()
            .set(changes)
            .col_expr(apps::Column::Revision, Expr::col(apps::Column::Revision).add(1))
            .filter(apps::Column::Id.eq(DbId(app.id)))
            .filter(apps::Column::WorkspaceId.eq(DbId(app.workspace)))
            .exec(self.write())
            .await
            .or_store_error()?;
        self.invalidate_caller(CallerChange::App(app.id));
        Ok(())
    }

    async fn delete_app(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if self.app_for_update(workspace, app).await?.is_none() {
            return Ok(());
        }
        let automations = automations::Entity::find()
            .filter(automations::Column::AppId.eq(DbId(app)))
            .filter(automations::Column::WorkspaceId.eq(DbId(workspace)));
        for automation in query::ids(automations, automations::Column::Id, self.read()).await? {
            delete_automation_cascade(self, workspace, automation, now).await?;
        }
        app_secrets::Entity::delete_many()
            .filter(app_secrets::Column::AppId.eq(DbId(app)))
            .exec(self.write())
            .await
            .or_store_error()?;
        let drafts = app_drafts::Entity::delete_many()
            .filter(app_drafts::Column::AppId.eq(DbId(app)))
            .exec_with_returning(self.write())
            .await
            .or_store_error()?;
        forget_imports_of(self, app, now).await?;
        let db = self.write();
        let mut code = CodeWrite::begin(db, workspace).await?;
        for draft in drafts {
            code.replace_files(draft_owner(app, draft.owner_id.0), &BTreeMap::new()).await?;
        }
        delete_files_of_app(&mut code, db, app, now).await?;
        code.finish_unchecked().await?;
        apps::Entity::update_many()
            .col_expr(apps::Column::DeletedAt, Expr::value(DbTime(now)))
            .col_expr(apps::Column::Revision, Expr::col(apps::Column::Revision).add(1))
            .filter(apps::Column::Id.eq(DbId(app)))
            .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
            .exec(self.write())
            .await
            .or_store_error()?;
        self.invalidate_caller(CallerChange::App(app));
        Ok(())
    }

    async fn latest_version_number(&mut self, workspace: WorkspaceId, app: AppId) -> Result<u32, StoreError> {
        let latest = app_versions::Entity::find()
            .filter(app_versions::Column::AppId.eq(DbId(app)))
            .filter(app_versions::Column::WorkspaceId.eq(DbId(workspace)))
            .select_only()
            .expr_as(Expr::col(app_versions::Column::Number).max(), "latest")
            .into_model::<LatestVersionRow>()
            .one(self.read())
            .await
            .or_store_error()?;
        let latest = latest.and_then(|row| row.latest);
        Ok(latest.and_then(|number| u32::try_from(number).ok()).unwrap_or_default())
    }

    async fn version_content(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        version: VersionId,
    ) -> Result<Option<(AppVersion, VersionContent)>, StoreError> {
        version_with_content(self.read(), workspace, app, version).await
    }

    async fn has_version_files(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        version: VersionId,
    ) -> Result<bool, StoreError> {
        let found = app_versions::Entity::find_by_id(version)
            .filter(app_versions::Column::AppId.eq(DbId(app)))
            .filter(app_versions::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(app_versions::Column::FilesDeletedAt.is_null());
        query::exists(found, self.read()).await
    }

    async fn insert_version(
        &mut self,
        version: &AppVersion,
        content: &VersionContent,
    ) -> Result<(), StoreError> {
        let is_apart = code_files::is_in_use(self.read()).await?;
        let manifest = to_json(&content.manifest)?;
        let instruction = version.built_from.as_ref().map(|built| built.instruction.clone());
        let row_bytes = version_bytes(&manifest, &version.summary, instruction.as_deref());
        let row = app_versions::ActiveModel {
            id: Set(DbId(version.id)),
            app_id: Set(DbId(version.app)),
            workspace_id: Set(DbId(version.workspace)),
            number: Set(version.number.into()),
            created_at: Set(DbTime(version.created_at)),
            created_by: Set(DbId(version.created_by)),
            bundle_hash: Set(version.bundle_hash.clone()),
            trust_score: Set(version.trust_score.into()),
            handlers: Set(version.handlers.map(|handlers| handlers.bits().into())),
            kind: Set(DbText(version.kind)),
            summary: Set(version.summary.clone()),
            base_version_id: Set(version.base.map(DbId)),
            manifest: Set(manifest),
            files: Set(if is_apart { STORED_APART.to_owned() } else { to_json(&content.files)? }),
            permissions_hash: Set(Some(content.manifest.permissions_hash())),
            instruction: Set(instruction),
            builder: Set(version.built_from.as_ref().map(|built| DbText(built.builder))),
            stored_bytes: Set(is_apart.then_some(row_bytes)),
            files_deleted_at: Set(None),
        };
        let db = self.write();
        if !is_apart {
            app_versions::Entity::insert(row).exec_without_returning(db).await.or_store_error()?;
            return Ok(());
        }
        let mut code = CodeWrite::begin(db, version.workspace).await?;
        app_versions::Entity::insert(row).exec_without_returning(db).await.or_store_error()?;
        code.replace_files(version.id.uuid(), &content.files).await?;
        code.count_row(row_bytes);
        code.finish().await?;
        if version.number > KEPT_VERSIONS {
            plan_prune(db, version.workspace, version.app, version.created_at).await?;
        }
        Ok(())
    }

    async fn insert_rollback(&mut self, rollback: &Rollback) -> Result<(), StoreError> {
        let row = app_rollbacks::ActiveModel {
            id: Set(DbId(rollback.id)),
            app_id: Set(DbId(rollback.app)),
            workspace_id: Set(DbId(rollback.workspace)),
            moved_at: Set(DbTime(rollback.at)),
            moved_by: Set(DbId(rollback.by)),
            from_version_id: Set(DbId(rollback.from)),
            to_version_id: Set(DbId(rollback.to)),
        };
        app_rollbacks::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn replace_access(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        sharing: Sharing,
        grants: &[AppGrant],
    ) -> Result<Option<PreviousAccess>, StoreError> {
        let found = apps::Entity::find_by_id(app)
            .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        let Some(found) = found else { return Ok(None) };
        let previous_sharing = found.sharing.0;
        let changed = apps::ActiveModel { sharing: Set(DbText(sharing)), ..found.into() };
        apps::Entity::update(changed).exec(self.write()).await.or_store_error()?;
        self.invalidate_caller(CallerChange::App(app));
        let revoked = app_grants::Entity::delete_many()
            .filter(app_grants::Column::AppId.eq(DbId(app)))
            .exec_with_returning(self.write())
            .await
            .or_store_error()?;
        let people = revoked.into_iter().map(|grant| grant.user_id.0).collect();
        let previous = Some(PreviousAccess { sharing: previous_sharing, people });
        if grants.is_empty() {
            return Ok(previous);
        }
        let rows = grants.iter().map(|grant| app_grants::ActiveModel {
            app_id: Set(DbId(app)),
            user_id: Set(DbId(grant.user)),
            rights: Set(grant.rights.bits().into()),
        });
        app_grants::Entity::insert_many(rows).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(previous)
    }

    async fn grants_of_app(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
    ) -> Result<Vec<AppGrant>, StoreError> {
        if self.app_for_update(workspace, app).await?.is_none() {
            return Ok(Vec::new());
        }
        app_grants_of(self.read(), app).await
    }

    async fn delete_grants_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Vec<AppId>, StoreError> {
        let apps_of_workspace = apps::Entity::find()
            .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
            .select_only()
            .column(apps::Column::Id)
            .into_query();
        let revoked = app_grants::Entity::delete_many()
            .filter(app_grants::Column::UserId.eq(DbId(user)))
            .filter(app_grants::Column::AppId.in_subquery(apps_of_workspace))
            .exec_with_returning(self.conditional_write())
            .await
            .or_store_error()?;
        if !revoked.is_empty() {
            self.mark_written();
        }
        Ok(revoked.into_iter().map(|grant| grant.app_id.0).collect())
    }

    async fn members_among(
        &mut self,
        workspace: WorkspaceId,
        users: &[UserId],
    ) -> Result<Vec<UserId>, StoreError> {
        let members = members::Entity::find()
            .filter(members::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(members::Column::UserId.is_in(users.iter().copied().map(DbId)));
        query::ids(members, members::Column::UserId, self.read()).await
    }
}

/// The number of an app's latest version.
#[derive(FromQueryResult)]
struct LatestVersionRow {
    latest: Option<i64>,
}

/// A version's manifest, as JSON.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "app_versions::Entity")]
struct ManifestRow {
    manifest: String,
}

impl StoreTx {
    /// Returns whether a version declares a webhook, and whether it declares a form.
    async fn declared_triggers(&self, version: VersionId) -> Result<(bool, bool), StoreError> {
        let found = app_versions::Entity::find_by_id(version)
            .into_partial_model::<ManifestRow>()
            .one(self.read())
            .await
            .or_store_error()?;
        let row = RowContext::new("app_versions", version);
        let found = found.ok_or_else(|| row.error("the current version is missing"))?;
        let manifest: ::apps::Manifest = row.json(&found.manifest)?;
        Ok((manifest.declares_webhook(), manifest.declares_form()))
    }
}

/// Takes a deleted app off the imports that led to it; those in review are discarded with it.
async fn forget_imports_of(tx: &mut StoreTx, app: AppId, now: Timestamp) -> Result<(), StoreError> {
    use imports::Column;
    let of_app = || imports::Entity::update_many().filter(Column::AppId.eq(DbId(app)));
    of_app()
        .col_expr(Column::Status, Expr::value(DbText(ImportStatus::Discarded)))
        .col_expr(Column::ChangedAt, Expr::value(DbTime(now)))
        .filter(Column::Status.eq(DbText(ImportStatus::Review)))
        .exec(tx.write())
        .await
        .or_store_error()?;
    of_app()
        .col_expr(Column::AppId, Expr::value(None::<DbId<kind::App>>))
        .col_expr(Column::AutomationId, Expr::value(None::<DbId<kind::Automation>>))
        .exec(tx.write())
        .await
        .or_store_error()?;
    Ok(())
}
