//! Reads of apps and versions.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Instant,
};

use ::apps::{
    App, AppVersion, AppsRead, VersionKind,
    access::AppGrant,
    versions::{BuiltFrom, ChangeBuilder, Handlers, Rollback, VersionContent},
};
use ::caller_cache::CachedRecord;
use ::workspace::WorkspaceRead;
use async_trait::async_trait;
use kernel::{
    StoreError,
    authority::{AppFact, AppRights, Sharing, Visibility},
    id::{AppId, UserId, VersionId, WorkspaceId, kind},
    page::PageRequest,
};
use sea_orm::{
    ColumnTrait as _, ConnectionTrait, DerivePartialModel, EntityTrait as _, FromQueryResult, JoinType,
    QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _, RelationTrait as _, Select,
    sea_query::{Expr, ExprTrait as _, Query},
};

use super::visibility::visible_apps;
use crate::{
    caller_cache::{CachedApp, slug_key},
    code_files,
    convert::RowContext,
    entity::{
        app_grants, app_rollbacks, app_versions, apps,
        column::{DbId, DbText, DbTime},
        users,
    },
    error::OrStoreError as _,
    query,
    store::Store,
};

fn rights(row: RowContext, bits: i16) -> Result<AppRights, StoreError> {
    Ok(AppRights::from_bits(row.number(bits.into())?))
}

/// Selects apps that are not deleted.
fn live_apps() -> Select<apps::Entity> {
    apps::Entity::find().filter(apps::Column::DeletedAt.is_null())
}

/// The facts that decide about access to an app, with the rights of one person.
#[derive(FromQueryResult)]
struct AppFactRow {
    workspace_id: DbId<kind::Workspace>,
    created_by: DbId<kind::User>,
    sharing: DbText<Sharing>,
    granted: Option<i16>,
}

/// A version without its content, which lists do not read.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "app_versions::Entity")]
struct VersionRow {
    id: DbId<kind::Version>,
    app_id: DbId<kind::App>,
    workspace_id: DbId<kind::Workspace>,
    number: i64,
    created_at: DbTime,
    created_by: DbId<kind::User>,
    bundle_hash: String,
    trust_score: i16,
    handlers: Option<i16>,
    kind: DbText<VersionKind>,
    summary: String,
    base_version_id: Option<DbId<kind::Version>>,
    instruction: Option<String>,
    builder: Option<DbText<ChangeBuilder>>,
    files_deleted_at: Option<DbTime>,
    #[sea_orm(from_expr = "users::Column::Name")]
    created_by_name: Option<String>,
}

/// A version with its content, as JSON.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "app_versions::Entity")]
struct VersionContentRow {
    #[sea_orm(nested)]
    version: VersionRow,
    manifest: String,
    files: String,
}

/// Selects the versions of an app, with the names of the people who made them.
fn versions_of(workspace: WorkspaceId, app: AppId) -> Select<app_versions::Entity> {
    app_versions::Entity::find()
        .join(JoinType::LeftJoin, app_versions::Relation::Creator.def())
        .filter(app_versions::Column::AppId.eq(DbId(app)))
        .filter(app_versions::Column::WorkspaceId.eq(DbId(workspace)))
}

fn version(model: VersionRow) -> Result<AppVersion, StoreError> {
    let row = RowContext::new("app_versions", model.id);
    Ok(AppVersion {
        id: model.id.0,
        app: model.app_id.0,
        workspace: model.workspace_id.0,
        number: row.number(model.number)?,
        created_at: model.created_at.0,
        created_by: model.created_by.0,
        bundle_hash: model.bundle_hash,
        trust_score: row.number(model.trust_score.into())?,
        handlers: model.handlers.map(|bits| row.number(bits.into()).map(Handlers::from_bits)).transpose()?,
        kind: model.kind.0,
        summary: model.summary,
        base: model.base_version_id.map(DbId::into_inner),
        created_by_name: model.created_by_name,
        is_runnable: model.files_deleted_at.is_none(),
        built_from: model
            .instruction
            .zip(model.builder)
            .map(|(instruction, builder)| BuiltFrom { instruction, builder: builder.0 }),
    })
}

#[span_macros::traced]
#[async_trait]
impl AppsRead for Store {
    async fn app_fact(&self, app: AppId, user: UserId) -> Result<Option<AppFact>, StoreError> {
        let granted = Query::select()
            .column(app_grants::Column::Rights)
            .from(app_grants::Entity)
            .and_where(app_grants::Column::AppId.into_expr().equals((apps::Entity, apps::Column::Id)))
            .and_where(app_grants::Column::UserId.eq(DbId(user)))
            .to_owned();
        let found = live_apps()
            .filter(apps::Column::Id.eq(DbId(app)))
            .select_only()
            .columns([apps::Column::WorkspaceId, apps::Column::CreatedBy, apps::Column::Sharing])
            .expr_as(Expr::from(granted), "granted")
            .into_model::<AppFactRow>()
            .one(self.read())
            .await
            .or_store_error()?;
        let Some(found) = found else { return Ok(None) };
        Ok(Some(AppFact {
            app,
            workspace: found.workspace_id.0,
            created_by: found.created_by.0,
            sharing: found.sharing.0,
            granted: rights(RowContext::new("apps", app), found.granted.unwrap_or_default())?,
        }))
    }

    async fn app_by_slug(&self, slug: &str) -> Result<Option<App>, StoreError> {
        let cache = self.cache_view().await;
        let (digest, asked_at) = (slug_key(slug), Instant::now());
        let cached = cache.get_by_digest(|all| &all.apps, [digest]);
        if let Some(app) = cached.as_ref().and_then(|record| record.value.current()) {
            let has_workspace = WorkspaceRead::workspace(self, app.workspace).await?.is_some();
            return Ok(has_workspace.then(|| app.clone()));
        }
        let found = live_apps()
            .filter(apps::Column::Slug.eq(slug))
            .filter(query::is_live_workspace(Expr::col((apps::Entity, apps::Column::WorkspaceId))))
            .one(self.read())
            .await
            .or_store_error()?;
        let found = found.map(App::from);
        if let Some(app) = &found {
            let value = CachedApp { app: app.clone(), asked_at };
            let record = Arc::new(CachedRecord { digest, value });
            cache.insert_record(|all| &all.apps, app.id, &record);
        }
        Ok(found)
    }

    async fn app(&self, workspace: WorkspaceId, app: AppId) -> Result<Option<App>, StoreError> {
        let found = live_apps()
            .filter(apps::Column::Id.eq(DbId(app)))
            .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.map(App::from))
    }

    async fn apps_by_id(&self, workspace: WorkspaceId, apps: &[AppId]) -> Result<Vec<App>, StoreError> {
        if apps.is_empty() {
            return Ok(Vec::new());
        }
        let found = live_apps()
            .filter(apps::Column::Id.is_in(apps.iter().copied().map(DbId)))
            .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
            .all(self.read())
            .await
            .or_store_error()?;
        Ok(found.into_iter().map(App::from).collect())
    }

    async fn app_names(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        limit: u32,
    ) -> Result<Vec<(AppId, String)>, StoreError> {
        let found: Vec<(DbId<kind::App>, String)> = live_apps()
            .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(visible_apps(visible))
            .order_by_desc(apps::Column::Id)
            .limit(u64::from(limit))
            .select_only()
            .columns([apps::Column::Id, apps::Column::Name])
            .into_tuple()
            .all(self.read())
            .await
            .or_store_error()?;
        Ok(found.into_iter().map(|(app, name)| (app.0, name)).collect())
    }

    async fn apps(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        visible: Visibility,
        page: PageRequest,
    ) -> Result<Vec<(App, AppRights)>, StoreError> {
        let found = live_apps()
            .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(visible_apps(visible))
            .apply_if(page.after, |query, after| query.filter(apps::Column::Id.lt(after)))
            .order_by_desc(apps::Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        let grants = app_grants::Entity::find()
            .filter(app_grants::Column::UserId.eq(DbId(user)))
            .filter(app_grants::Column::AppId.is_in(found.iter().map(|app| app.id)))
            .all(self.read())
            .await
            .or_store_error()?;
        let grants: HashMap<_, AppRights> = grants
            .iter()
            .map(|grant| {
                let rights = rights(RowContext::new("app_grants", grant.app_id), grant.rights)?;
                Ok((grant.app_id, rights))
            })
            .collect::<Result<_, StoreError>>()?;
        let with_rights = found.into_iter().map(|model| {
            let granted = grants.get(&model.id).copied().unwrap_or_default();
            (App::from(model), granted)
        });
        Ok(with_rights.collect())
    }

    async fn versions(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        page: PageRequest,
    ) -> Result<Vec<AppVersion>, StoreError> {
        use app_versions::Column;
        let found = versions_of(workspace, app)
            .apply_if(page.after, |query, after| query.filter(Column::Id.lt(after)))
            .order_by_desc(Column::Number)
            .limit(u64::from(page.limit) + 1)
            .into_partial_model::<VersionRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(version).collect()
    }

    async fn version(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        id: VersionId,
    ) -> Result<Option<(AppVersion, VersionContent)>, StoreError> {
        version_with_content(self.read(), workspace, app, id).await
    }

    async fn rollbacks(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        limit: u32,
    ) -> Result<Vec<Rollback>, StoreError> {
        use app_rollbacks::Column;
        let found = app_rollbacks::Entity::find()
            .find_also_related(users::Entity)
            .filter(Column::AppId.eq(DbId(app)))
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .order_by_desc(Column::Id)
            .limit(u64::from(limit))
            .all(self.read())
            .await
            .or_store_error()?;
        let rollback = |(row, mover): (app_rollbacks::Model, Option<users::Model>)| Rollback {
            id: row.id.0,
            app: row.app_id.0,
            workspace: row.workspace_id.0,
            at: row.moved_at.0,
            by: row.moved_by.0,
            by_name: mover.map(|mover| mover.name),
            from: row.from_version_id.0,
            to: row.to_version_id.0,
        };
        Ok(found.into_iter().map(rollback).collect())
    }

    async fn grants(&self, workspace: WorkspaceId, app: AppId) -> Result<Vec<AppGrant>, StoreError> {
        if self.app(workspace, app).await?.is_none() {
            return Ok(Vec::new());
        }
        app_grants_of(self.read(), app).await
    }
}

/// Returns a version of an app with its content.
pub(super) async fn version_with_content(
    db: &impl ConnectionTrait,
    workspace: WorkspaceId,
    app: AppId,
    id: VersionId,
) -> Result<Option<(AppVersion, VersionContent)>, StoreError> {
    let found = versions_of(workspace, app)
        .filter(app_versions::Column::Id.eq(DbId(id)))
        .into_partial_model::<VersionContentRow>()
        .one(db)
        .await
        .or_store_error()?;
    let Some(found) = found else { return Ok(None) };
    let row = RowContext::new("app_versions", id);
    let mut version = version(found.version)?;
    let files = match found.files.as_str() {
        code_files::STORED_APART if !version.is_runnable => BTreeMap::new(),
        code_files::STORED_APART => code_files::files_of(db, id.uuid()).await?,
        inline => row.json(inline)?,
    };
    // A version has a file. They were deleted between the two statements.
    version.is_runnable &= !files.is_empty();
    Ok(Some((version, VersionContent { manifest: row.json(&found.manifest)?, files })))
}

/// Returns the rights granted on an app, by person.
pub(super) async fn app_grants_of(
    db: &impl ConnectionTrait,
    app: AppId,
) -> Result<Vec<AppGrant>, StoreError> {
    let found = app_grants::Entity::find()
        .filter(app_grants::Column::AppId.eq(DbId(app)))
        .order_by_asc(app_grants::Column::UserId)
        .all(db)
        .await
        .or_store_error()?;
    let row = RowContext::new("app_grants", app);
    found
        .iter()
        .map(|model| Ok(AppGrant { user: model.user_id.0, rights: rights(row, model.rights)? }))
        .collect()
}
