//! Writes of apps and versions.

use ::apps::{App, AppVersion, AppsTx, access::AppGrant, versions::VersionContent};
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    authority::Sharing,
    id::{AppId, AutomationId, UserId, VersionId, WorkspaceId},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _,
    sea_query::{Expr, ExprTrait as _},
};
use uuid::Uuid;

use crate::{
    StoreTx,
    convert::{ids, millis, to_json},
    entity::{app_grants, app_versions, apps, automations, members},
    error::OrStoreError as _,
    runs::delete_automation_cascade,
    sql::{Sql, column},
};

#[async_trait]
impl AppsTx for StoreTx {
    async fn insert_app(&mut self, app: &App) -> Result<(), StoreError> {
        let row = apps::ActiveModel {
            id: Set(app.id.uuid()),
            workspace_id: Set(app.workspace.uuid()),
            slug: Set(app.slug.clone()),
            name: Set(app.name.clone()),
            description: Set(app.description.clone()),
            archetype: Set(app.archetype.clone()),
            category: Set(app.category.as_str().to_owned()),
            sharing: Set(app.sharing.as_str().to_owned()),
            paused: Set(app.is_paused),
            current_version_id: Set(app.current_version.map(Id::uuid)),
            declares_webhook: Set(false),
            declares_form: Set(false),
            created_by: Set(app.created_by.uuid()),
            created_at: Set(millis(app.created_at)),
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
        let found = apps::Entity::find_by_id(app.uuid())
            .filter(apps::Column::WorkspaceId.eq(workspace.uuid()))
            .filter(apps::Column::DeletedAt.is_null())
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(super::app).transpose()
    }

    async fn update_app(&mut self, app: &App) -> Result<(), StoreError> {
        let (declares_webhook, declares_form) = match app.current_version {
            Some(version) => self.declared_triggers(version).await?,
            None => (false, false),
        };
        apps::Entity::update_many()
            .col_expr(apps::Column::Name, Expr::value(app.name.as_str()))
            .col_expr(apps::Column::Description, Expr::value(app.description.as_str()))
            .col_expr(apps::Column::Archetype, Expr::value(app.archetype.as_str()))
            .col_expr(apps::Column::Category, Expr::value(app.category.as_str()))
            .col_expr(apps::Column::Paused, Expr::value(app.is_paused))
            .col_expr(apps::Column::CurrentVersionId, Expr::value(app.current_version.map(Id::uuid)))
            .col_expr(apps::Column::DeclaresWebhook, Expr::value(declares_webhook))
            .col_expr(apps::Column::DeclaresForm, Expr::value(declares_form))
            .col_expr(apps::Column::Revision, Expr::col(apps::Column::Revision).add(1))
            .filter(apps::Column::Id.eq(app.id.uuid()))
            .filter(apps::Column::WorkspaceId.eq(app.workspace.uuid()))
            .exec(self.write())
            .await
            .or_store_error()?;
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
        let automation_ids: Vec<Uuid> = automations::Entity::find()
            .filter(automations::Column::AppId.eq(app.uuid()))
            .filter(automations::Column::WorkspaceId.eq(workspace.uuid()))
            .select_only()
            .column(automations::Column::Id)
            .into_tuple()
            .all(self.read())
            .await
            .or_store_error()?;
        for automation_id in automation_ids {
            delete_automation_cascade(self, workspace, AutomationId::from_uuid(automation_id), now).await?;
        }
        apps::Entity::update_many()
            .col_expr(apps::Column::DeletedAt, Expr::value(millis(now)))
            .col_expr(apps::Column::Revision, Expr::col(apps::Column::Revision).add(1))
            .filter(apps::Column::Id.eq(app.uuid()))
            .filter(apps::Column::WorkspaceId.eq(workspace.uuid()))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn latest_version_number(&mut self, workspace: WorkspaceId, app: AppId) -> Result<u32, StoreError> {
        let latest: Option<Option<i64>> = app_versions::Entity::find()
            .filter(app_versions::Column::AppId.eq(app.uuid()))
            .filter(app_versions::Column::WorkspaceId.eq(workspace.uuid()))
            .select_only()
            .expr(Expr::col(app_versions::Column::Number).max())
            .into_tuple()
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(latest.flatten().and_then(|number| u32::try_from(number).ok()).unwrap_or_default())
    }

    async fn insert_version(
        &mut self,
        version: &AppVersion,
        content: &VersionContent,
    ) -> Result<(), StoreError> {
        let row = app_versions::ActiveModel {
            id: Set(version.id.uuid()),
            app_id: Set(version.app.uuid()),
            workspace_id: Set(version.workspace.uuid()),
            number: Set(version.number.into()),
            created_at: Set(millis(version.created_at)),
            created_by: Set(version.created_by.uuid()),
            bundle_hash: Set(version.bundle_hash.clone()),
            trust_score: Set(version.trust_score.into()),
            kind: Set(version.kind.as_str().to_owned()),
            summary: Set(version.summary.clone()),
            base_version_id: Set(version.base.map(Id::uuid)),
            manifest: Set(to_json(&content.manifest)?),
            files: Set(to_json(&content.files)?),
        };
        app_versions::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn replace_access(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        sharing: Sharing,
        grants: &[AppGrant],
    ) -> Result<(), StoreError> {
        let shared = apps::Entity::update_many()
            .col_expr(apps::Column::Sharing, Expr::value(sharing.as_str()))
            .filter(apps::Column::Id.eq(app.uuid()))
            .filter(apps::Column::WorkspaceId.eq(workspace.uuid()))
            .exec(self.write())
            .await
            .or_store_error()?;
        if shared.rows_affected == 0 {
            return Ok(());
        }
        app_grants::Entity::delete_many()
            .filter(app_grants::Column::AppId.eq(app.uuid()))
            .exec(self.write())
            .await
            .or_store_error()?;
        if grants.is_empty() {
            return Ok(());
        }
        let rows = grants.iter().map(|grant| app_grants::ActiveModel {
            app_id: Set(app.uuid()),
            user_id: Set(grant.user.uuid()),
            rights: Set(grant.rights.bits().into()),
        });
        app_grants::Entity::insert_many(rows).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn delete_grants_of(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<Vec<AppId>, StoreError> {
        let mut sql = Sql::new("DELETE FROM app_grants WHERE user_id = ");
        sql.bind(user.uuid()).push(" AND app_id IN (SELECT id FROM apps WHERE workspace_id = ");
        sql.bind(workspace.uuid()).push(") RETURNING app_id");
        let revoked = sql.fetch_all(self.read()).await?;
        if !revoked.is_empty() {
            self.write();
        }
        revoked.iter().map(|row| Ok(Id::from_uuid(column(row, 0)?))).collect()
    }

    async fn members_among(
        &mut self,
        workspace: WorkspaceId,
        users: &[UserId],
    ) -> Result<Vec<UserId>, StoreError> {
        let found: Vec<Uuid> = members::Entity::find()
            .filter(members::Column::WorkspaceId.eq(workspace.uuid()))
            .filter(members::Column::UserId.is_in(ids(users)))
            .select_only()
            .column(members::Column::UserId)
            .into_tuple()
            .all(self.read())
            .await
            .or_store_error()?;
        Ok(found.into_iter().map(Id::from_uuid).collect())
    }
}

impl StoreTx {
    /// Whether a version declares a webhook, and whether it declares a form.
    async fn declared_triggers(&self, version: VersionId) -> Result<(bool, bool), StoreError> {
        let manifest: Option<String> = app_versions::Entity::find_by_id(version.uuid())
            .select_only()
            .column(app_versions::Column::Manifest)
            .into_tuple()
            .one(self.read())
            .await
            .or_store_error()?;
        let row = crate::convert::RowContext { table: "app_versions", id: version.uuid() };
        let manifest = manifest.ok_or_else(|| row.error("the current version is missing"))?;
        let manifest: ::apps::Manifest = row.json(&manifest)?;
        Ok((manifest.declares_webhook(), manifest.declares_form()))
    }
}
