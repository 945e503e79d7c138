//! `agent_tool_calls`: calls of tools by day.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::DbId;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "agent_tool_calls")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub tool_id: DbId<kind::AgentTool>,
    /// Days since 1970 in UTC.
    #[sea_orm(primary_key, auto_increment = false)]
    pub day: i64,
    pub calls: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
