//! `app_rollbacks`: moves of apps to another of their versions.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::{
    column::{DbId, DbTime},
    users,
};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "app_rollbacks")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Rollback>,
    pub app_id: DbId<kind::App>,
    pub workspace_id: DbId<kind::Workspace>,
    pub moved_at: DbTime,
    pub moved_by: DbId<kind::User>,
    pub from_version_id: DbId<kind::Version>,
    pub to_version_id: DbId<kind::Version>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(belongs_to = "users::Entity", from = "Column::MovedBy", to = "users::Column::Id")]
    Mover,
}

impl Related<users::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Mover.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
