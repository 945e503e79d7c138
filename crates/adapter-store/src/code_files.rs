//! Files of versions and drafts, and the bytes of code that a workspace stores.
//!
//! A text is stored once in a workspace (`code_files`); `code_refs` says which versions and drafts have it. Everything that writes
//! either, or a row that counts, does so through [`CodeWrite`]: it locks the workspace's count first, so that a publication and a
//! deletion of the same file wait for each other, and keeps the count in the same transaction.

mod adopt;
mod maintain;
mod prune;
mod write;

use std::collections::BTreeMap;

use kernel::{
    StoreError,
    id::{AppId, UserId, WorkspaceId, kind},
};
use sea_orm::{
    ColumnTrait as _, ConnectionTrait, DerivePartialModel, EntityTrait as _, FromQueryResult, JoinType,
    QueryFilter as _, QuerySelect as _, RelationTrait as _,
};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

pub(crate) use adopt::{import_bytes, version_bytes};
pub(crate) use prune::{delete_files_of_app, plan_prune};
pub(crate) use write::CodeWrite;

use crate::{
    entity::{breaking_migrations, code_files, code_refs, column::DbId, workspace_code},
    error::OrStoreError as _,
    query,
};

/// Value of a column of files if the files are in `code_files`.
pub(crate) const STORED_APART: &str = "";

/// Returns true once files are stored in `code_files`: every program that may run on this schema knows it then.
pub(crate) async fn is_in_use(db: &impl ConnectionTrait) -> Result<bool, StoreError> {
    query::exists(breaking_migrations::Entity::find_by_id(migrations::CODE_FILES), db).await
}

/// Returns the id under which the files of a person's draft are stored.
pub(crate) fn draft_owner(app: AppId, person: UserId) -> Uuid {
    let digest = Sha256::new().chain_update(app.uuid()).chain_update(person.uuid()).finalize();
    let mut id = [0; 16];
    id.copy_from_slice(&digest[..16]);
    Uuid::from_bytes(id)
}

/// A file of a version or a draft.
#[derive(FromQueryResult)]
struct FileRow {
    path: String,
    content: String,
}

/// Returns the files of a version or a draft, by path.
pub(crate) async fn files_of(
    db: &impl ConnectionTrait,
    owner: Uuid,
) -> Result<BTreeMap<String, String>, StoreError> {
    let found = code_refs::Entity::find()
        .join(JoinType::InnerJoin, code_refs::Relation::File.def())
        .filter(code_refs::Column::OwnerId.eq(owner))
        .select_only()
        .column(code_refs::Column::Path)
        .column(code_files::Column::Content)
        .into_model::<FileRow>()
        .all(db)
        .await
        .or_store_error()?;
    Ok(found.into_iter().map(|file| (file.path, file.content)).collect())
}

/// Bytes of code that a workspace stores.
#[derive(DerivePartialModel)]
#[sea_orm(entity = "workspace_code::Entity")]
struct CountRow {
    bytes: i64,
}

/// Returns the bytes of code that a workspace stores.
pub(crate) async fn stored_bytes(
    db: &impl ConnectionTrait,
    workspace: WorkspaceId,
) -> Result<u64, StoreError> {
    let found = workspace_code::Entity::find_by_id(DbId::<kind::Workspace>(workspace))
        .into_partial_model::<CountRow>()
        .one(db)
        .await
        .or_store_error()?;
    Ok(found.map_or(0, |found| u64::try_from(found.bytes).unwrap_or_default()))
}
