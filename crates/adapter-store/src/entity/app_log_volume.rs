//! `app_log_volume`: bytes of log that an app's responses left on a day (UTC). `day` is the moment it began.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::DbId;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "app_log_volume")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub app_id: DbId<kind::App>,
    #[sea_orm(primary_key, auto_increment = false)]
    pub day: i64,
    pub bytes: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
