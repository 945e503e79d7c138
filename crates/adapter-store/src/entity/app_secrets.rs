//! `app_secrets`: sealed secrets of apps.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::{
    column::{DbId, DbTime},
    users,
};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "app_secrets")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub app_id: DbId<kind::App>,
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    pub workspace_id: DbId<kind::Workspace>,
    /// Host names with spaces between them.
    pub hosts: String,
    pub clear: bool,
    pub version: i64,
    pub set_at: DbTime,
    pub set_by: DbId<kind::User>,
    pub sealed: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(belongs_to = "users::Entity", from = "Column::SetBy", to = "users::Column::Id")]
    Setter,
}

impl Related<users::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Setter.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
