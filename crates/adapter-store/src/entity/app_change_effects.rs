//! `app_change_effects`: what approved plans did outside of versions; `effects` is JSON.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "app_change_effects")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub change_id: DbId<kind::Change>,
    pub workspace_id: DbId<kind::Workspace>,
    pub app_id: DbId<kind::App>,
    pub version_number: i64,
    pub at: DbTime,
    pub effects: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
