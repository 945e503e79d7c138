//! `notification_settings`: what people chose about notifications in a workspace, and what they have seen.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::DbId;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "notification_settings")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub workspace_id: DbId<kind::Workspace>,
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: DbId<kind::User>,
    pub email: bool,
    pub read_to: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
