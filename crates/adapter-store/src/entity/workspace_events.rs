//! `workspace_events`: events of workspaces.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "workspace_events")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub workspace_id: DbId<kind::Workspace>,
    #[sea_orm(primary_key, auto_increment = false)]
    pub seq: i64,
    pub at: DbTime,
    pub kind: i16,
    pub app_id: DbId<kind::App>,
    pub run_id: Option<DbId<kind::Run>>,
    pub code: Option<String>,
    pub data: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
