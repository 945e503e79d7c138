//! Writes of a workspace's code within one transaction.

use std::collections::{BTreeMap, BTreeSet};

use ::workspace::Plan;
use kernel::{StoreError, id::WorkspaceId};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, ConnectionTrait as _, DatabaseTransaction, DerivePartialModel, EntityTrait as _,
    FromQueryResult, QueryFilter as _, QuerySelect as _, QueryTrait as _,
    sea_query::{Expr, ExprTrait as _, OnConflict, Query},
};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{
    entity::{
        code_files, code_refs,
        column::{DbId, DbText},
        workspace_code, workspaces,
    },
    error::OrStoreError as _,
    query::ROW_LOCK,
    sql::statement_chunks,
};

/// Bytes that a file counts for beside its text: its row, and the entries of indexes.
const FILE_OVERHEAD: usize = 128;
/// Bytes that a file of a version or a draft counts for beside its path.
const REF_OVERHEAD: usize = 64;
/// Bytes beyond the plan's for what adds no file: whoever is at the limit can still take permissions away from an app.
const GRACE_BYTES: i64 = 1 << 20;

/// A change of what a workspace stores. Nobody else changes it until the transaction ends.
pub(crate) struct CodeWrite<'t> {
    db: &'t DatabaseTransaction,
    workspace: WorkspaceId,
    /// Bytes that were stored before.
    before: i64,
    /// Bytes of files that were added, less those that were deleted.
    files: i64,
    /// Bytes of everything else that was added, less what was deleted.
    rows: i64,
}

/// A file that a version or a draft has.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "code_refs::Entity")]
struct RefRow {
    path: String,
    digest: Vec<u8>,
}

#[derive(DerivePartialModel)]
#[sea_orm(entity = "code_files::Entity")]
struct DigestRow {
    digest: Vec<u8>,
}

#[derive(FromQueryResult)]
struct SizeRow {
    size: i64,
}

#[derive(DerivePartialModel)]
#[sea_orm(entity = "workspace_code::Entity")]
struct CountRow {
    bytes: i64,
}

#[derive(DerivePartialModel)]
#[sea_orm(entity = "workspaces::Entity")]
struct PlanRow {
    plan: DbText<Plan>,
}

impl<'t> CodeWrite<'t> {
    /// Locks the count of a workspace. A row of the app is locked before, one of a version after.
    pub(crate) async fn begin(
        db: &'t DatabaseTransaction,
        workspace: WorkspaceId,
    ) -> Result<Self, StoreError> {
        let row = workspace_code::ActiveModel { workspace_id: Set(DbId(workspace)), bytes: Set(0) };
        let once = OnConflict::column(workspace_code::Column::WorkspaceId).do_nothing().to_owned();
        let insert = workspace_code::Entity::insert(row).on_conflict(once).into_query();
        db.execute(&insert).await.or_store_error()?;
        let locked = workspace_code::Entity::find_by_id(DbId(workspace))
            .lock(ROW_LOCK)
            .into_partial_model::<CountRow>()
            .one(db)
            .await
            .or_store_error()?;
        let before = locked.map(|row| row.bytes).unwrap_or_default();
        Ok(Self { db, workspace, before, files: 0, rows: 0 })
    }

    /// Gives a version or a draft these files in place of those that it has. Those that nothing has any more are deleted.
    pub(crate) async fn replace_files(
        &mut self,
        owner: Uuid,
        files: &BTreeMap<String, String>,
    ) -> Result<(), StoreError> {
        let before = code_refs::Entity::find()
            .filter(code_refs::Column::OwnerId.eq(owner))
            .into_partial_model::<RefRow>()
            .all(self.db)
            .await
            .or_store_error()?;
        let mut dropped: BTreeMap<String, Vec<u8>> =
            before.into_iter().map(|row| (row.path, row.digest)).collect();
        let mut added = Vec::new();
        for (path, text) in files {
            let digest = Sha256::digest(text).to_vec();
            if dropped.get(path) == Some(&digest) {
                dropped.remove(path);
            } else {
                added.push((path.as_str(), text.as_str(), digest));
            }
        }
        self.delete_refs(owner, &dropped).await?;
        self.insert_files(&added).await?;
        self.insert_refs(owner, &added).await?;
        self.delete_unused(dropped.into_values().collect()).await
    }

    /// Counts a row that has grown, or shrunk, by so many bytes.
    pub(crate) fn count_row(&mut self, bytes: i64) {
        self.rows += bytes;
    }

    /// Stores the count, if what was added fits into the workspace's plan.
    pub(crate) async fn finish(self) -> Result<(), StoreError> {
        let after = self.after();
        if self.files > 0 || self.rows > 0 {
            let max = self.max_bytes().await?;
            let allowed = i64::try_from(max).unwrap_or(i64::MAX);
            let is_full = self.files > 0 && after > allowed;
            if is_full || (self.rows > 0 && after > allowed.saturating_add(GRACE_BYTES)) {
                return Err(StoreError::StorageFull { max_bytes: max });
            }
        }
        self.finish_unchecked().await
    }

    /// Stores the count of what was there before it was counted, or of what was deleted.
    pub(crate) async fn finish_unchecked(self) -> Result<(), StoreError> {
        let after = self.after();
        if after != self.before {
            workspace_code::Entity::update_many()
                .col_expr(workspace_code::Column::Bytes, Expr::value(after))
                .filter(workspace_code::Column::WorkspaceId.eq(DbId(self.workspace)))
                .exec(self.db)
                .await
                .or_store_error()?;
        }
        Ok(())
    }

    fn after(&self) -> i64 {
        self.before.saturating_add(self.files).saturating_add(self.rows)
    }

    async fn max_bytes(&self) -> Result<u64, StoreError> {
        let found = workspaces::Entity::find_by_id(self.workspace)
            .into_partial_model::<PlanRow>()
            .one(self.db)
            .await
            .or_store_error()?;
        Ok(found.map_or(Plan::Free, |found| found.plan.0).limits().stored_code_bytes)
    }

    async fn delete_refs(
        &mut self,
        owner: Uuid,
        dropped: &BTreeMap<String, Vec<u8>>,
    ) -> Result<(), StoreError> {
        let paths: Vec<&str> = dropped.keys().map(String::as_str).collect();
        for paths in statement_chunks(&paths) {
            code_refs::Entity::delete_many()
                .filter(code_refs::Column::OwnerId.eq(owner))
                .filter(code_refs::Column::Path.is_in(paths.iter().copied()))
                .exec(self.db)
                .await
                .or_store_error()?;
        }
        self.rows -= paths.iter().map(|path| ref_size(path)).sum::<i64>();
        Ok(())
    }

    async fn insert_files(&mut self, added: &[(&str, &str, Vec<u8>)]) -> Result<(), StoreError> {
        let mut missing: BTreeMap<&Vec<u8>, &str> =
            added.iter().map(|(_, text, digest)| (digest, *text)).collect();
        let digests: Vec<&Vec<u8>> = missing.keys().copied().collect();
        for digests in statement_chunks(&digests) {
            let known = code_files::Entity::find()
                .filter(code_files::Column::WorkspaceId.eq(DbId(self.workspace)))
                .filter(code_files::Column::Digest.is_in(digests.iter().map(|digest| (*digest).clone())))
                .into_partial_model::<DigestRow>()
                .all(self.db)
                .await
                .or_store_error()?;
            missing.retain(|digest, _| !known.iter().any(|row| row.digest == **digest));
        }
        // A file is a statement: a version has few that are new, and any of them may be large.
        for (digest, text) in missing {
            let row = code_files::ActiveModel {
                workspace_id: Set(DbId(self.workspace)),
                digest: Set(digest.clone()),
                size: Set(bytes(text.len())),
                content: Set(text.to_owned()),
            };
            code_files::Entity::insert(row).exec_without_returning(self.db).await.or_store_error()?;
            self.files += bytes(text.len() + FILE_OVERHEAD);
        }
        Ok(())
    }

    async fn insert_refs(&mut self, owner: Uuid, added: &[(&str, &str, Vec<u8>)]) -> Result<(), StoreError> {
        for added in statement_chunks(added) {
            let rows = added.iter().map(|(path, _, digest)| code_refs::ActiveModel {
                owner_id: Set(owner),
                path: Set((*path).to_owned()),
                workspace_id: Set(DbId(self.workspace)),
                digest: Set(digest.clone()),
            });
            code_refs::Entity::insert_many(rows).exec_without_returning(self.db).await.or_store_error()?;
            self.rows += added.iter().map(|(path, ..)| ref_size(path)).sum::<i64>();
        }
        Ok(())
    }

    /// Deletes those of these files that no version and no draft has.
    async fn delete_unused(&mut self, digests: BTreeSet<Vec<u8>>) -> Result<(), StoreError> {
        use code_files::Column;
        let digests: Vec<Vec<u8>> = digests.into_iter().collect();
        for digests in statement_chunks(&digests) {
            let file = |column: Column| Expr::col((code_files::Entity, column));
            let of_file = |column: code_refs::Column| Expr::col((code_refs::Entity, column));
            let users = Query::select()
                .expr(Expr::val(1))
                .from(code_refs::Entity)
                .and_where(
                    of_file(code_refs::Column::WorkspaceId).equals((code_files::Entity, Column::WorkspaceId)),
                )
                .and_where(of_file(code_refs::Column::Digest).equals((code_files::Entity, Column::Digest)))
                .to_owned();
            let delete = Query::delete()
                .from_table(code_files::Entity)
                .and_where(file(Column::WorkspaceId).eq(DbId(self.workspace)))
                .and_where(file(Column::Digest).is_in(digests.iter().cloned()))
                .and_where(Expr::exists(users).not())
                .returning(Query::returning().column(Column::Size))
                .to_owned();
            let deleted: Vec<SizeRow> = crate::query::fetch_all(&delete, self.db).await?;
            self.files -= deleted.iter().map(|row| row.size + bytes(FILE_OVERHEAD)).sum::<i64>();
        }
        Ok(())
    }
}

fn ref_size(path: &str) -> i64 {
    bytes(path.len() + REF_OVERHEAD)
}

/// Returns a length as its column stores it.
pub(crate) fn bytes(len: usize) -> i64 {
    i64::try_from(len).unwrap_or(i64::MAX)
}
