//! Reads of apps and versions.

use std::collections::HashMap;

use ::apps::{App, AppVersion, AppsRead, access::AppGrant, versions::VersionContent};
use async_trait::async_trait;
use kernel::{
    Id, StoreError,
    authority::{AppFact, AppRights, Visibility},
    id::{AppId, UserId, VersionId, WorkspaceId},
    page::PageRequest,
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _};
use uuid::Uuid;

use super::visible_apps;
use crate::{
    Store,
    convert::RowContext,
    entity::{app_grants, app_versions, apps, users},
    error::OrStoreError as _,
    sql::{Sql, column},
};

fn rights(model: &app_grants::Model) -> Result<AppRights, StoreError> {
    let row = RowContext { table: "app_grants", id: model.app_id };
    Ok(AppRights::from_bits(row.number(model.rights.into())?))
}

#[async_trait]
impl AppsRead for Store {
    async fn app_fact(&self, app: AppId, user: UserId) -> Result<Option<AppFact>, StoreError> {
        let mut sql = Sql::new(
            "SELECT a.workspace_id, a.created_by, a.sharing, \
             (SELECT g.rights FROM app_grants g WHERE g.app_id = a.id AND g.user_id = ",
        );
        sql.bind(user.uuid()).push(") FROM apps a WHERE a.deleted_at IS NULL AND a.id = ").bind(app.uuid());
        let Some(found) = sql.fetch_optional(self.read()).await? else { return Ok(None) };
        let row = RowContext { table: "apps", id: app.uuid() };
        let granted: Option<i16> = column(&found, 3)?;
        Ok(Some(AppFact {
            app,
            workspace: Id::from_uuid(column(&found, 0)?),
            created_by: Id::from_uuid(column(&found, 1)?),
            sharing: row.parse(&column::<String>(&found, 2)?)?,
            granted: AppRights::from_bits(row.number(granted.unwrap_or_default().into())?),
        }))
    }

    async fn app_by_slug(&self, slug: &str) -> Result<Option<App>, StoreError> {
        let found = apps::Entity::find()
            .filter(apps::Column::Slug.eq(slug))
            .filter(apps::Column::DeletedAt.is_null())
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(super::app).transpose()
    }

    async fn app(&self, workspace: WorkspaceId, app: AppId) -> Result<Option<App>, StoreError> {
        let found = apps::Entity::find_by_id(app.uuid())
            .filter(apps::Column::WorkspaceId.eq(workspace.uuid()))
            .filter(apps::Column::DeletedAt.is_null())
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(super::app).transpose()
    }

    async fn apps(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        visible: Visibility,
        page: PageRequest,
    ) -> Result<Vec<(App, AppRights)>, StoreError> {
        let mut select = apps::Entity::find()
            .filter(apps::Column::WorkspaceId.eq(workspace.uuid()))
            .filter(apps::Column::DeletedAt.is_null())
            .filter(visible_apps(visible));
        if let Some(after) = page.after {
            select = select.filter(apps::Column::Id.lt(after));
        }
        let found = select
            .order_by_desc(apps::Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        let grants = app_grants::Entity::find()
            .filter(app_grants::Column::UserId.eq(user.uuid()))
            .filter(app_grants::Column::AppId.is_in(found.iter().map(|app| app.id)))
            .all(self.read())
            .await
            .or_store_error()?;
        let grants: HashMap<Uuid, AppRights> = grants
            .iter()
            .map(|grant| Ok((grant.app_id, rights(grant)?)))
            .collect::<Result<_, StoreError>>()?;
        found
            .into_iter()
            .map(|model| {
                let granted = grants.get(&model.id).copied().unwrap_or_default();
                Ok((super::app(model)?, granted))
            })
            .collect()
    }

    async fn versions(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        page: PageRequest,
    ) -> Result<Vec<AppVersion>, StoreError> {
        use app_versions::Column;
        let mut select = app_versions::Entity::find()
            .filter(Column::AppId.eq(app.uuid()))
            .filter(Column::WorkspaceId.eq(workspace.uuid()));
        if let Some(after) = page.after {
            select = select.filter(Column::Id.lt(after));
        }
        // The list shows neither manifest nor files, so it does not read them.
        let found = select
            .order_by_desc(Column::Number)
            .limit(u64::from(page.limit) + 1)
            .select_only()
            .columns([
                Column::Id,
                Column::AppId,
                Column::WorkspaceId,
                Column::Number,
                Column::CreatedAt,
                Column::CreatedBy,
                Column::BundleHash,
                Column::TrustScore,
                Column::Kind,
                Column::Summary,
                Column::BaseVersionId,
            ])
            .expr_as(sea_orm::sea_query::Expr::value(""), "manifest")
            .expr_as(sea_orm::sea_query::Expr::value(""), "files")
            .all(self.read())
            .await
            .or_store_error()?;
        let names = users::Entity::find()
            .filter(users::Column::Id.is_in(found.iter().map(|version| version.created_by)))
            .all(self.read())
            .await
            .or_store_error()?;
        let names: HashMap<Uuid, String> = names.into_iter().map(|user| (user.id, user.name)).collect();
        found.iter().map(|model| super::version(model, names.get(&model.created_by).cloned())).collect()
    }

    async fn version(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        version: VersionId,
    ) -> Result<Option<(AppVersion, VersionContent)>, StoreError> {
        let found = app_versions::Entity::find_by_id(version.uuid())
            .filter(app_versions::Column::AppId.eq(app.uuid()))
            .filter(app_versions::Column::WorkspaceId.eq(workspace.uuid()))
            .one(self.read())
            .await
            .or_store_error()?;
        let Some(model) = found else { return Ok(None) };
        let row = RowContext { table: "app_versions", id: model.id };
        let maker = users::Entity::find_by_id(model.created_by).one(self.read()).await.or_store_error()?;
        let content = VersionContent { manifest: row.json(&model.manifest)?, files: row.json(&model.files)? };
        Ok(Some((super::version(&model, maker.map(|user| user.name))?, content)))
    }

    async fn grants(&self, workspace: WorkspaceId, app: AppId) -> Result<Vec<AppGrant>, StoreError> {
        if self.app(workspace, app).await?.is_none() {
            return Ok(Vec::new());
        }
        let found = app_grants::Entity::find()
            .filter(app_grants::Column::AppId.eq(app.uuid()))
            .order_by_asc(app_grants::Column::UserId)
            .all(self.read())
            .await
            .or_store_error()?;
        found
            .iter()
            .map(|model| Ok(AppGrant { user: Id::from_uuid(model.user_id), rights: rights(model)? }))
            .collect()
    }
}
