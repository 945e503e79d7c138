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
    pub app_id: Option<DbId<kind::App>>,
    pub run_id: Option<DbId<kind::Run>>,
    pub code: Option<String>,
    pub data: Option<String>,
    pub audience_app_id: Option<DbId<kind::App>>,
    pub audience_role: Option<i16>,
    pub audience_user_id: Option<DbId<kind::User>>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
