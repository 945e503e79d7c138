//! `code_refs`: which files a version or a draft has.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::{code_files, column::DbId};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "code_refs")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub owner_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub path: String,
    pub workspace_id: DbId<kind::Workspace>,
    pub digest: Vec<u8>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(
        belongs_to = "code_files::Entity",
        from = "(Column::WorkspaceId, Column::Digest)",
        to = "(code_files::Column::WorkspaceId, code_files::Column::Digest)"
    )]
    File,
}

impl ActiveModelBehavior for ActiveModel {}
