//! `automation_failures`: how many runs of an automation have failed since one succeeded.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::DbId;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "automation_failures")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub automation_id: DbId<kind::Automation>,
    pub in_a_row: i64,
    /// None in a row of a program that does not know the column, as `app_id`.
    pub workspace_id: Option<DbId<kind::Workspace>>,
    pub app_id: Option<DbId<kind::App>>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(
        belongs_to = "super::automations::Entity",
        from = "Column::AutomationId",
        to = "super::automations::Column::Id"
    )]
    Automation,
}

impl ActiveModelBehavior for ActiveModel {}
