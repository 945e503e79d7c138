//! `app_metrics`: metrics of apps by interval and node.

use kernel::id::kind;
use observability::Resolution;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbNumber, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "app_metrics")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub app_id: DbId<kind::App>,
    #[sea_orm(primary_key, auto_increment = false)]
    pub resolution: DbNumber<Resolution>,
    #[sea_orm(primary_key, auto_increment = false)]
    pub at: DbTime,
    #[sea_orm(primary_key, auto_increment = false)]
    pub node_id: DbId<kind::Node>,
    pub workspace_id: DbId<kind::Workspace>,
    pub requests: i64,
    pub failed_requests: i64,
    pub runs: i64,
    pub failed_runs: i64,
    pub retried_attempts: i64,
    pub request_cpu_micros: i64,
    pub run_cpu_micros: i64,
    pub request_durations: Vec<u8>,
    pub run_durations: Vec<u8>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
