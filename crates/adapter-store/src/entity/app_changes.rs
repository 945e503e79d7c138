//! `app_changes`: planned changes of apps; `plan` is JSON.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "app_changes")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Change>,
    pub workspace_id: DbId<kind::Workspace>,
    pub app_id: DbId<kind::App>,
    pub owner_id: DbId<kind::User>,
    pub run_id: Option<DbId<kind::Run>>,
    pub plan: String,
    pub created_at: DbTime,
    pub expires_at: DbTime,
    pub version_id: Option<DbId<kind::Version>>,
    pub failure: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
