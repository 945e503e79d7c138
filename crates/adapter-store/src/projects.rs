//! The ports of `projects`.

mod traffic;

use ::projects::{
    Project, ProjectFact, ProjectKey, ProjectsRead, ProjectsTx, Settings, ports::KeyUsageWriter,
    projects::ProjectSummary,
};
use async_trait::async_trait;
use kernel::{
    Id, StoreError, Timestamp,
    id::{ProjectId, ProjectKeyId, WorkspaceId},
    token::{Digest, TokenHint},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, EntityTrait as _, PaginatorTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _,
    sea_query::{Expr, ExprTrait as _},
};

use crate::{
    Store, StoreTx,
    convert::{RowContext, millis, to_json},
    entity::{backend_projects, project_keys},
    error::OrStoreError as _,
    sql::{Sql, column, latest_by_id, statement_chunks},
};

fn project(model: backend_projects::Model) -> Result<Project, StoreError> {
    let row = RowContext { table: "backend_projects", id: model.id };
    Ok(Project {
        id: Id::from_uuid(model.id),
        workspace: Id::from_uuid(model.workspace_id),
        shard: row.number(model.shard)?,
        settings: row.json(&model.settings)?,
        created_by: Id::from_uuid(model.created_by),
        created_at: row.timestamp(model.created_at)?,
        name: model.name,
        slug: model.slug,
        description: model.description,
    })
}

fn project_key(model: project_keys::Model) -> Result<ProjectKey, StoreError> {
    let row = RowContext { table: "project_keys", id: model.id };
    Ok(ProjectKey {
        id: Id::from_uuid(model.id),
        project: Id::from_uuid(model.project_id),
        name: model.name,
        kind: row.parse(&model.kind)?,
        scopes: row.parse(&model.scopes)?,
        tables: model.tables.as_deref().map(|tables| row.json(tables)).transpose()?,
        hint: TokenHint { prefix: model.prefix, last4: model.last4 },
        created_by: Id::from_uuid(model.created_by),
        created_at: row.timestamp(model.created_at)?,
        last_used_at: row.optional_timestamp(model.last_used_at)?,
        revoked_at: row.optional_timestamp(model.revoked_at)?,
    })
}

impl Store {
    /// How many live keys each of these projects has.
    async fn with_key_counts(
        &self,
        models: Vec<backend_projects::Model>,
    ) -> Result<Vec<ProjectSummary>, StoreError> {
        if models.is_empty() {
            return Ok(Vec::new());
        }
        let mut sql = Sql::new(
            "SELECT project_id, count(*) FROM project_keys WHERE revoked_at IS NULL AND project_id IN (",
        );
        sql.bind_all(models.iter().map(|model| model.id)).push(") GROUP BY project_id");
        let mut counts = std::collections::HashMap::new();
        for found in sql.fetch_all(self.read()).await? {
            counts.insert(column::<uuid::Uuid>(&found, 0)?, column::<i64>(&found, 1)?);
        }
        models
            .into_iter()
            .map(|model| {
                let row = RowContext { table: "backend_projects", id: model.id };
                let key_count = row.number(counts.get(&model.id).copied().unwrap_or_default())?;
                Ok(ProjectSummary { project: project(model)?, key_count })
            })
            .collect()
    }
}

#[async_trait]
impl ProjectsRead for Store {
    async fn project_fact(&self, id: ProjectId) -> Result<Option<ProjectFact>, StoreError> {
        let found =
            backend_projects::Entity::find_by_id(id.uuid()).one(self.read()).await.or_store_error()?;
        Ok(found.map(|model| ProjectFact {
            project: id,
            workspace: Id::from_uuid(model.workspace_id),
            created_by: Id::from_uuid(model.created_by),
        }))
    }

    async fn project(
        &self,
        workspace: WorkspaceId,
        id: ProjectId,
    ) -> Result<Option<ProjectSummary>, StoreError> {
        let found = backend_projects::Entity::find_by_id(id.uuid())
            .filter(backend_projects::Column::WorkspaceId.eq(workspace.uuid()))
            .all(self.read())
            .await
            .or_store_error()?;
        Ok(self.with_key_counts(found).await?.pop())
    }

    async fn project_by_key(&self, id: ProjectId) -> Result<Option<Project>, StoreError> {
        let found =
            backend_projects::Entity::find_by_id(id.uuid()).one(self.read()).await.or_store_error()?;
        found.map(project).transpose()
    }

    async fn projects(&self, workspace: WorkspaceId) -> Result<Vec<ProjectSummary>, StoreError> {
        let found = backend_projects::Entity::find()
            .filter(backend_projects::Column::WorkspaceId.eq(workspace.uuid()))
            .order_by_desc(backend_projects::Column::Id)
            .all(self.read())
            .await
            .or_store_error()?;
        self.with_key_counts(found).await
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
            .filter(project_keys::Column::ProjectId.eq(project.uuid()))
            .order_by_desc(project_keys::Column::Id)
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(project_key).collect()
    }

    async fn project_key_by_digest(&self, digests: &[Digest]) -> Result<Option<ProjectKey>, StoreError> {
        let found = project_keys::Entity::find()
            .filter(
                project_keys::Column::Digest.is_in(digests.iter().map(|digest| digest.as_bytes().to_vec())),
            )
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(project_key).transpose()
    }
}

#[async_trait]
impl ProjectsTx for StoreTx {
    async fn count_projects(&mut self, workspace: WorkspaceId) -> Result<u64, StoreError> {
        backend_projects::Entity::find()
            .filter(backend_projects::Column::WorkspaceId.eq(workspace.uuid()))
            .count(self.read())
            .await
            .or_store_error()
    }

    async fn insert_project(&mut self, project: &Project) -> Result<(), StoreError> {
        let row = backend_projects::ActiveModel {
            id: Set(project.id.uuid()),
            workspace_id: Set(project.workspace.uuid()),
            name: Set(project.name.clone()),
            slug: Set(project.slug.clone()),
            description: Set(project.description.clone()),
            shard: Set(project.shard.into()),
            settings: Set(to_json(&project.settings)?),
            created_by: Set(project.created_by.uuid()),
            created_at: Set(millis(project.created_at)),
        };
        backend_projects::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn project_for_update(
        &mut self,
        workspace: WorkspaceId,
        id: ProjectId,
    ) -> Result<Option<Project>, StoreError> {
        let found = backend_projects::Entity::find_by_id(id.uuid())
            .filter(backend_projects::Column::WorkspaceId.eq(workspace.uuid()))
            .lock_exclusive()
            .one(self.read())
            .await
            .or_store_error()?;
        found.map(project).transpose()
    }

    async fn set_project_settings(
        &mut self,
        workspace: WorkspaceId,
        id: ProjectId,
        settings: &Settings,
    ) -> Result<(), StoreError> {
        backend_projects::Entity::update_many()
            .col_expr(backend_projects::Column::Settings, Expr::value(to_json(settings)?))
            .filter(backend_projects::Column::Id.eq(id.uuid()))
            .filter(backend_projects::Column::WorkspaceId.eq(workspace.uuid()))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn count_active_keys(&mut self, project: ProjectId) -> Result<u64, StoreError> {
        project_keys::Entity::find()
            .filter(project_keys::Column::ProjectId.eq(project.uuid()))
            .filter(project_keys::Column::RevokedAt.is_null())
            .count(self.read())
            .await
            .or_store_error()
    }

    async fn insert_project_key(&mut self, key: &ProjectKey, digest: &Digest) -> Result<(), StoreError> {
        let row = project_keys::ActiveModel {
            id: Set(key.id.uuid()),
            digest: Set(digest.as_bytes().to_vec()),
            project_id: Set(key.project.uuid()),
            name: Set(key.name.clone()),
            kind: Set(key.kind.as_str().to_owned()),
            scopes: Set(key.scopes.to_string()),
            tables: Set(key.tables.as_ref().map(to_json).transpose()?),
            prefix: Set(key.hint.prefix.clone()),
            last4: Set(key.hint.last4.clone()),
            created_by: Set(key.created_by.uuid()),
            created_at: Set(millis(key.created_at)),
            last_used_at: Set(key.last_used_at.map(millis)),
            revoked_at: Set(key.revoked_at.map(millis)),
        };
        project_keys::Entity::insert(row).exec_without_returning(self.write()).await.or_store_error()?;
        Ok(())
    }

    async fn revoke_project_key(
        &mut self,
        workspace: WorkspaceId,
        project: ProjectId,
        id: ProjectKeyId,
        at: Timestamp,
    ) -> Result<Option<ProjectKey>, StoreError> {
        let of_workspace = backend_projects::Entity::find_by_id(project.uuid())
            .filter(backend_projects::Column::WorkspaceId.eq(workspace.uuid()))
            .one(self.read())
            .await
            .or_store_error()?;
        if of_workspace.is_none() {
            return Ok(None);
        }
        let this =
            || project_keys::Column::Id.eq(id.uuid()).and(project_keys::Column::ProjectId.eq(project.uuid()));
        project_keys::Entity::update_many()
            .col_expr(project_keys::Column::RevokedAt, Expr::value(millis(at)))
            .filter(this())
            .filter(project_keys::Column::RevokedAt.is_null())
            .exec(self.write())
            .await
            .or_store_error()?;
        let found = project_keys::Entity::find().filter(this()).one(self.read()).await.or_store_error()?;
        found.map(project_key).transpose()
    }
}

#[async_trait]
impl KeyUsageWriter for Store {
    async fn touch_keys(&self, uses: &[(ProjectKeyId, Timestamp)]) -> Result<(), StoreError> {
        for uses in statement_chunks(&latest_by_id(uses)) {
            let mut sql = Sql::new("WITH used (id, at) AS (VALUES ");
            sql.push_values(uses, |sql, (id, at)| {
                sql.bind(*id).push(", ").bind(*at);
            });
            sql.push(
                ") UPDATE project_keys SET last_used_at = used.at FROM used WHERE project_keys.id = used.id \
                 AND (project_keys.last_used_at IS NULL OR project_keys.last_used_at < used.at)",
            );
            sql.execute(&self.write()).await?;
        }
        Ok(())
    }
}
