//! `project_minutes`: requests to the data API of each project, counted by minute and duration.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::DbId;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "project_minutes")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub project_id: DbId<kind::Project>,
    #[sea_orm(primary_key, auto_increment = false)]
    pub at: i64,
    #[sea_orm(primary_key, auto_increment = false)]
    pub bucket: i64,
    pub requests: i64,
    pub errors: i64,
    pub last_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
