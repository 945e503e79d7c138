//! Backend projects and their keys.

use std::collections::HashMap;

use ::projects::{
    Project, ProjectFact, ProjectKey, ProjectsRead, ProjectsTx, Settings,
    ports::KeyUsageWriter,
    projects::{ProjectSummary, deletion::DeletedProject},
};
use async_trait::async_trait;
use kernel::{
    StoreError, Timestamp,
    id::{ProjectId, ProjectKeyId, UserId, WorkspaceId, kind},
    page::PageRequest,
    token::{Digest, TokenHint},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, EntityTrait as _, FromQueryResult, QueryFilter as _, QueryOrder as _, QuerySelect as _,
    QueryTrait as _, Select,
    sea_query::{Asterisk, Expr, ExprTrait as _, Func},
};

use crate::{
    convert::{RowContext, digest_bytes, to_json},
    entity::{
        backend_projects::{self, Column},
        column::{DbId, DbText, DbTime},
        project_keys,
    },
    error::OrStoreError as _,
    query,
    store::Store,
    tx::StoreTx,
};

fn project(model: backend_projects::Model) -> Result<Project, StoreError> {
    let row = RowContext::new("backend_projects", model.id);
    Ok(Project {
        id: model.id.0,
        workspace: model.workspace_id.0,
        shard: row.number(model.shard)?,
        settings: row.json(&model.settings)?,
        created_by: model.created_by.0,
        created_at: model.created_at.0,
        name: model.name,
        slug: model.slug,
        description: model.description,
    })
}

fn project_key(model: project_keys::Model) -> Result<ProjectKey, StoreError> {
    let row = RowContext::new("project_keys", model.id);
    Ok(ProjectKey {
        id: model.id.0,
        project: model.project_id.0,
        name: model.name,
        kind: model.kind.0,
        scopes: model.scopes.0,
        tables: model.tables.as_deref().map(|tables| row.json(tables)).transpose()?,
        hint: TokenHint { prefix: model.prefix, last4: model.last4 },
        created_by: model.created_by.0,
        created_at: model.created_at.0,
        last_used_at: model.last_used_at.map(DbTime::into_inner),
        revoked_at: model.revoked_at.map(DbTime::into_inner),
    })
}

/// Selects projects that are not deleted.
fn live_projects() -> Select<backend_projects::Entity> {
    backend_projects::Entity::find().filter(Column::DeletedAt.is_null())
}

/// Selects deleted projects whose purge has not begun.
fn restorable_projects() -> Select<backend_projects::Entity> {
    backend_projects::Entity::find()
        .filter(Column::DeletedAt.is_not_null())
        .filter(Column::PurgeStartedAt.is_null())
}

fn project_fact(model: &backend_projects::Model) -> ProjectFact {
    ProjectFact { project: model.id.0, workspace: model.workspace_id.0, created_by: model.created_by.0 }
}

/// Keys of a project that are not revoked.
#[derive(FromQueryResult)]
struct KeyCountRow {
    project_id: DbId<kind::Project>,
    count: i64,
}

impl Store {
    /// Adds to projects how many keys of theirs are not revoked.
    async fn with_key_counts(
        &self,
        models: Vec<backend_projects::Model>,
    ) -> Result<Vec<ProjectSummary>, StoreError> {
        if models.is_empty() {
            return Ok(Vec::new());
        }
        let counts = project_keys::Entity::find()
            .filter(project_keys::Column::RevokedAt.is_null())
            .filter(project_keys::Column::ProjectId.is_in(models.iter().map(|model| model.id)))
            .group_by(project_keys::Column::ProjectId)
            .select_only()
            .column(project_keys::Column::ProjectId)
            .expr_as(Func::count(Expr::col(Asterisk)), "count")
            .into_model::<KeyCountRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        let counts: HashMap<_, _> = counts.into_iter().map(|row| (row.project_id, row.count)).collect();
        models
            .into_iter()
            .map(|model| {
                let row = RowContext::new("backend_projects", model.id);
                let key_count = row.number(counts.get(&model.id).copied().unwrap_or_default())?;
                Ok(ProjectSummary { project: project(model)?, key_count })
            })
            .collect()
    }
}

#[span_macros::traced]
#[async_trait]
impl ProjectsRead for Store {
    async fn project_fact(&self, id: ProjectId) -> Result<Option<ProjectFact>, StoreError> {
        let found =
            live_projects().filter(Column::Id.eq(DbId(id))).one(self.read()).await.or_store_error()?;
        Ok(found.as_ref().map(project_fact))
    }

    async fn project(
        &self,
        workspace: WorkspaceId,
        id: ProjectId,
    ) -> Result<Option<ProjectSummary>, StoreError> {
        let found = live_projects()
            .filter(Column::Id.eq(DbId(id)))
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .all(self.read())
            .await
            .or_store_error()?;
        Ok(self.with_key_counts(found).await?.pop())
    }

    async fn project_by_key(&self, id: ProjectId) -> Result<Option<Project>, StoreError> {
        let found = live_projects()
            .filter(Column::Id.eq(DbId(id)))
            .filter(query::is_live_workspace(Expr::col((backend_projects::Entity, Column::WorkspaceId))))
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(project).transpose()
    }

    async fn projects(&self, workspace: WorkspaceId) -> Result<Vec<ProjectSummary>, StoreError> {
        let found = live_projects()
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .order_by_desc(Column::Id)
            .all(self.read())
            .await
            .or_store_error()?;
        self.with_key_counts(found).await
    }

    async fn deleted_project_fact(&self, id: ProjectId) -> Result<Option<ProjectFact>, StoreError> {
        let found =
            restorable_projects().filter(Column::Id.eq(DbId(id))).one(self.read()).await.or_store_error()?;
        Ok(found.as_ref().map(project_fact))
    }

    async fn deleted_projects(
        &self,
        workspace: WorkspaceId,
        since: Timestamp,
    ) -> Result<Vec<DeletedProject>, StoreError> {
        let found = restorable_projects()
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .filter(Column::DeletedAt.gt(DbTime(since)))
            .order_by_desc(Column::Id)
            .all(self.read())
            .await
            .or_store_error()?;
        let times: Vec<Option<DbTime>> = found.iter().map(|model| model.deleted_at).collect();
        let summaries = self.with_key_counts(found).await?.into_iter().zip(times);
        Ok(summaries
            .filter_map(|(summary, at)| Some(DeletedProject { summary, deleted_at: at?.into_inner() }))
            .collect())
    }

    async fn project_keys(
        &self,
        workspace: WorkspaceId,
        project: ProjectId,
    ) -> Result<Vec<ProjectKey>, StoreError> {
        let owned = self.project_fact(project).await?.is_some_and(|fact| fact.workspace == workspace);
        if !owned {
            return Ok(Vec::new());
        }
        let found = project_keys::Entity::find()
            .filter(project_keys::Column::ProjectId.eq(DbId(project)))
            .order_by_desc(project_keys::Column::Id)
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(project_key).collect()
    }

    async fn project_key_page(
        &self,
        workspace: WorkspaceId,
        project: ProjectId,
        page: PageRequest,
    ) -> Result<Vec<ProjectKey>, StoreError> {
        let owned = self.project_fact(project).await?.is_some_and(|fact| fact.workspace == workspace);
        if !owned {
            return Ok(Vec::new());
        }
        let found = project_keys::Entity::find()
            .filter(project_keys::Column::ProjectId.eq(DbId(project)))
            .apply_if(page.after, |query, after| query.filter(project_keys::Column::Id.lt(after)))
            .order_by_desc(project_keys::Column::Id)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(project_key).collect()
    }

    async fn project_key_by_digest(&self, digests: &[Digest]) -> Result<Option<ProjectKey>, StoreError> {
        let found = project_keys::Entity::find()
            .filter(project_keys::Column::Digest.is_in(digest_bytes(digests)))
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(project_key).transpose()
    }
}

#[span_macros::traced]
#[async_trait]
impl ProjectsTx for StoreTx {
    async fn count_projects(&mut self, workspace: WorkspaceId) -> Result<u64, StoreError> {
        let projects = backend_projects::Entity::find().filter(Column::WorkspaceId.eq(DbId(workspace)));
        query::count(projects, self.read()).await
    }

    async fn insert_project(&mut self, project: &Project) -> Result<(), StoreError> {
        let row = backend_projects::ActiveModel {
            id: Set(DbId(project.id)),
            workspace_id: Set(DbId(project.workspace)),
            name: Set(project.name.clone()),
            slug: Set(project.slug.clone()),
            description: Set(project.description.clone()),
            shard: Set(project.shard.into()),
            settings: Set(to_json(&project.settings)?),
            created_by: Set(DbId(project.created_by)),
            created_at: Set(DbTime(project.created_at)),
            deleted_at: Set(None),
            deleted_by: Set(None),
            purge_started_at: Set(None),
        };
        backend_projects::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn project_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: ProjectId,
    ) -> Result<Option<Project>, StoreError> {
        let found = live_projects()
            .filter(Column::Id.eq(DbId(id)))
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(project).transpose()
    }

    async fn mark_project_deleted(
        &mut self,
        workspace: WorkspaceId,
        id: ProjectId,
        at: Timestamp,
        by: UserId,
    ) -> Result<(), StoreError> {
        self.set_project_deletion(workspace, id, Some((at, by))).await
    }

    async fn deleted_project_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: ProjectId,
    ) -> Result<Option<(Project, Timestamp)>, StoreError> {
        let found = restorable_projects()
            .filter(Column::Id.eq(DbId(id)))
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        let Some(model) = found else { return Ok(None) };
        let deleted_at = model.deleted_at.map(DbTime::into_inner);
        Ok(deleted_at.map(|at| project(model).map(|project| (project, at))).transpose()?)
    }

    async fn unmark_project_deleted(
        &mut self,
        workspace: WorkspaceId,
        id: ProjectId,
    ) -> Result<(), StoreError> {
        self.set_project_deletion(workspace, id, None).await
    }

    async fn set_project_settings(
        &mut self,
        workspace: WorkspaceId,
        id: ProjectId,
        settings: &Settings,
    ) -> Result<(), StoreError> {
        backend_projects::Entity::update_many()
            .col_expr(Column::Settings, Expr::value(to_json(settings)?))
            .filter(Column::Id.eq(DbId(id)))
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn count_active_keys(&mut self, project: ProjectId) -> Result<u64, StoreError> {
        let active = project_keys::Entity::find()
            .filter(project_keys::Column::ProjectId.eq(DbId(project)))
            .filter(project_keys::Column::RevokedAt.is_null());
        query::count(active, self.read()).await
    }

    async fn insert_project_key(&mut self, key: &ProjectKey, digest: &Digest) -> Result<(), StoreError> {
        let row = project_keys::ActiveModel {
            id: Set(DbId(key.id)),
            digest: Set(digest.as_bytes().to_vec()),
            project_id: Set(DbId(key.project)),
            name: Set(key.name.clone()),
            kind: Set(DbText(key.kind)),
            scopes: Set(DbText(key.scopes)),
            tables: Set(key.tables.as_ref().map(to_json).transpose()?),
            prefix: Set(key.hint.prefix.clone()),
            last4: Set(key.hint.last4.clone()),
            created_by: Set(DbId(key.created_by)),
            created_at: Set(DbTime(key.created_at)),
            last_used_at: Set(key.last_used_at.map(DbTime)),
            revoked_at: Set(key.revoked_at.map(DbTime)),
        };
        project_keys::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn project_key_for_update(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
        id: ProjectKeyId,
    ) -> Result<Option<ProjectKey>, StoreError> {
        if !self.has_live_project(workspace, project).await? {
            return Ok(None);
        }
        let found = project_keys::Entity::find_by_id(id)
            .filter(project_keys::Column::ProjectId.eq(DbId(project)))
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(project_key).transpose()
    }

    async fn revoke_project_key(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
        id: ProjectKeyId,
        at: Timestamp,
    ) -> Result<Option<ProjectKey>, StoreError> {
        if !self.has_live_project(workspace, project).await? {
            return Ok(None);
        }
        let this =
            || project_keys::Column::Id.eq(DbId(id)).and(project_keys::Column::ProjectId.eq(DbId(project)));
        project_keys::Entity::update_many()
            .col_expr(project_keys::Column::RevokedAt, Expr::value(DbTime(at)))
            .filter(this())
            .filter(project_keys::Column::RevokedAt.is_null())
            .exec(self.write())
            .await
            .or_store_error()?;
        let found = project_keys::Entity::find().filter(this()).one(self.read()).await.or_store_error()?;
        found.map(project_key).transpose()
    }
}

impl StoreTx {
    async fn has_live_project(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
    ) -> Result<bool, StoreError> {
        let found = live_projects()
            .filter(Column::Id.eq(DbId(project)))
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .one(self.read())
            .await
            .or_store_error()?;
        Ok(found.is_some())
    }

    /// Sets or clears when and by whom a project was deleted.
    async fn set_project_deletion(
        &mut self,
        workspace: WorkspaceId,
        id: ProjectId,
        deletion: Option<(Timestamp, UserId)>,
    ) -> Result<(), StoreError> {
        let (at, by) = deletion.unzip();
        let columns = backend_projects::ActiveModel {
            deleted_at: Set(at.map(DbTime)),
            deleted_by: Set(by.map(DbId)),
            ..Default::default()
        };
        backend_projects::Entity::update_many()
            .set(columns)
            .filter(Column::Id.eq(DbId(id)))
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }
}

#[span_macros::traced]
#[async_trait]
impl KeyUsageWriter for Store {
    async fn touch_keys(&self, uses: &[(ProjectKeyId, Timestamp)]) -> Result<(), StoreError> {
        self.touch(project_keys::Entity, project_keys::Column::LastUsedAt, uses).await
    }
}
