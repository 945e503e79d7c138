//! `log_lines`: lines of log.

use ::observability::{LogLevel, LogSource};
use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbNumber, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "log_lines")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub workspace_id: DbId<kind::Workspace>,
    pub app_id: DbId<kind::App>,
    pub run_id: Option<DbId<kind::Run>>,
    pub at: DbTime,
    pub level: DbNumber<LogLevel>,
    pub source: DbNumber<LogSource>,
    pub message: String,
    pub event_seq: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
