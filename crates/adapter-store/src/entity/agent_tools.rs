//! `agent_tools`: automations that agents start by name.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "agent_tools")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::AgentTool>,
    pub workspace_id: DbId<kind::Workspace>,
    pub app_id: DbId<kind::App>,
    pub automation_id: DbId<kind::Automation>,
    pub name: String,
    pub title: String,
    pub description: String,
    pub input_schema: String,
    pub enabled: bool,
    pub reviewed_hash: String,
    pub reviewed_at: DbTime,
    pub reviewed_by: DbId<kind::User>,
    pub published_at: DbTime,
    pub last_called_at: Option<DbTime>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(belongs_to = "super::apps::Entity", from = "Column::AppId", to = "super::apps::Column::Id")]
    App,
    #[sea_orm(
        belongs_to = "super::automations::Entity",
        from = "Column::AutomationId",
        to = "super::automations::Column::Id"
    )]
    Automation,
    #[sea_orm(
        belongs_to = "super::users::Entity",
        from = "Column::ReviewedBy",
        to = "super::users::Column::Id"
    )]
    Reviewer,
}

impl ActiveModelBehavior for ActiveModel {}
