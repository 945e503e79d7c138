//! The ports of secrets of apps.

use ::connections::{
    GateHost,
    app_secrets::{AppSecret, AppSecretName, AppSecretReader, AppSecretTx, AppSecretView, SealedAppSecret},
};
use async_trait::async_trait;
use kernel::{
    StoreError,
    id::{AppId, WorkspaceId},
};
use sea_orm::{
    ActiveModelTrait as _, ColumnTrait as _, EntityTrait as _, IntoActiveModel as _, QueryFilter as _,
    QueryOrder as _, QuerySelect as _, Select, sea_query::OnConflict,
};

use crate::{
    convert::RowContext,
    entity::{
        app_secrets, apps,
        column::{DbId, DbTime},
        users,
    },
    error::OrStoreError as _,
    store::Store,
    tx::StoreTx,
};

fn of_app(workspace: WorkspaceId, app: AppId) -> Select<app_secrets::Entity> {
    app_secrets::Entity::find()
        .filter(app_secrets::Column::AppId.eq(DbId(app)))
        .filter(app_secrets::Column::WorkspaceId.eq(DbId(workspace)))
}

/// Returns a stored secret with its sealed value.
pub(crate) fn app_secret(model: app_secrets::Model) -> Result<SealedAppSecret, StoreError> {
    let row = RowContext::new("app_secrets", model.app_id);
    let secret = AppSecret {
        workspace: model.workspace_id.0,
        app: model.app_id.0,
        name: row.parse(&model.name)?,
        hosts: model.hosts.split_ascii_whitespace().map(|host| row.parse(host)).collect::<Result<_, _>>()?,
        clear: model.clear,
        version: row.number(model.version)?,
        set_at: model.set_at.0,
        set_by: model.set_by.0,
    };
    Ok(SealedAppSecret { secret, sealed: model.sealed })
}

#[span_macros::traced]
#[async_trait]
impl AppSecretReader for Store {
    async fn list_app_secrets(
        &self,
        workspace: WorkspaceId,
        app: AppId,
    ) -> Result<Vec<AppSecretView>, StoreError> {
        let found = of_app(workspace, app)
            .find_also_related(users::Entity)
            .order_by_asc(app_secrets::Column::Name)
            .all(self.read())
            .await
            .or_store_error()?;
        let view = |(model, setter): (_, Option<users::Model>)| {
            let set_by_name = setter.map(|user| user.name);
            app_secret(model).map(|stored| AppSecretView { secret: stored.secret, set_by_name })
        };
        found.into_iter().map(view).collect()
    }

    async fn clear_app_secrets(
        &self,
        workspace: WorkspaceId,
        app: AppId,
    ) -> Result<Vec<SealedAppSecret>, StoreError> {
        let is_clear = app_secrets::Column::Clear.eq(true);
        let found = of_app(workspace, app).filter(is_clear).order_by_asc(app_secrets::Column::Name);
        found.all(self.read()).await.or_store_error()?.into_iter().map(app_secret).collect()
    }

    async fn find_app_secret(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        name: &AppSecretName,
    ) -> Result<Option<SealedAppSecret>, StoreError> {
        let of_name = app_secrets::Column::Name.eq(name.as_str());
        let found = of_app(workspace, app).filter(of_name).one(self.read()).await.or_store_error()?;
        found.map(app_secret).transpose()
    }
}

#[span_macros::traced]
#[async_trait]
impl AppSecretTx for StoreTx {
    async fn app_secrets_for_update(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
    ) -> Result<Option<Vec<AppSecret>>, StoreError> {
        let locked = apps::Entity::find_by_id(app)
            .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(apps::Column::DeletedAt.is_null())
            .lock_exclusive();
        if locked.one(self.read()).await.or_store_error()?.is_none() {
            return Ok(None);
        }
        let found = of_app(workspace, app).all(self.read()).await.or_store_error()?;
        let secrets = found.into_iter().map(|model| app_secret(model).map(|stored| stored.secret));
        secrets.collect::<Result<_, _>>().map(Some)
    }

    async fn put_app_secret(&mut self, stored: &SealedAppSecret) -> Result<(), StoreError> {
        use app_secrets::Column;
        let SealedAppSecret { secret, sealed } = stored;
        let hosts: Vec<_> = secret.hosts.iter().map(GateHost::as_str).collect();
        let row = app_secrets::Model {
            app_id: DbId(secret.app),
            name: secret.name.to_string(),
            workspace_id: DbId(secret.workspace),
            hosts: hosts.join(" "),
            clear: secret.clear,
            version: i64::from(secret.version),
            set_at: DbTime(secret.set_at),
            set_by: DbId(secret.set_by),
            sealed: sealed.clone(),
        };
        let replaced = OnConflict::columns([Column::AppId, Column::Name])
            .update_columns([
                Column::Hosts,
                Column::Clear,
                Column::Version,
                Column::SetAt,
                Column::SetBy,
                Column::Sealed,
            ])
            .to_owned();
        app_secrets::Entity::insert(row.into_active_model().reset_all())
            .on_conflict(replaced)
            .exec_without_returning(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn delete_app_secret(
        &mut self,
        workspace: WorkspaceId,
        app: AppId,
        name: &AppSecretName,
    ) -> Result<(), StoreError> {
        app_secrets::Entity::delete_many()
            .filter(app_secrets::Column::AppId.eq(DbId(app)))
            .filter(app_secrets::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(app_secrets::Column::Name.eq(name.as_str()))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }
}
