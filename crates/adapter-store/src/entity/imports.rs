//! `imports`: workflows of other tools that became apps; `report` and `needs` are JSON.

use imports::{Format, imports::ImportStatus};
use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "imports")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Import>,
    pub workspace_id: DbId<kind::Workspace>,
    pub name: String,
    pub format: DbText<Format>,
    pub status: DbText<ImportStatus>,
    pub app_id: Option<DbId<kind::App>>,
    pub automation_id: Option<DbId<kind::Automation>>,
    pub report: String,
    pub needs: String,
    pub created_by: DbId<kind::User>,
    pub created_at: DbTime,
    pub changed_at: DbTime,
    pub stored_bytes: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
