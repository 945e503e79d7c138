//! `app_grants`: rights of single people in single apps, as bits.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::DbId;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "app_grants")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub app_id: DbId<kind::App>,
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: DbId<kind::User>,
    pub rights: i16,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
