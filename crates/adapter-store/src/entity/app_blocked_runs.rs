//! `app_blocked_runs`: blocked runs of apps by quarter of an hour.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::DbId;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "app_blocked_runs")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub workspace_id: DbId<kind::Workspace>,
    #[sea_orm(primary_key, auto_increment = false)]
    pub app_id: DbId<kind::App>,
    /// Quarters of an hour since 1970.
    #[sea_orm(primary_key, auto_increment = false)]
    pub quarter: i64,
    pub runs: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
