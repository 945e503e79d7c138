//! `app_drafts`: drafts of apps.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "app_drafts")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub app_id: DbId<kind::App>,
    #[sea_orm(primary_key, auto_increment = false)]
    pub owner_id: DbId<kind::User>,
    pub workspace_id: DbId<kind::Workspace>,
    pub base_version_id: Option<DbId<kind::Version>>,
    pub files: String,
    pub saved_at: DbTime,
    pub expires_at: DbTime,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
