//! `automations`: automations. `revision` counts changes of what accepting a call depends on.

use ::runs::automations::occurrences::{CatchUp, Overlap};
use ::runs::{AutomationStatus, TriggerKind};
use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "automations")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Automation>,
    pub workspace_id: DbId<kind::Workspace>,
    pub app_id: DbId<kind::App>,
    pub name: String,
    pub trigger_kind: DbText<TriggerKind>,
    pub cron: Option<String>,
    pub timezone: Option<String>,
    pub event: Option<String>,
    pub status: DbText<AutomationStatus>,
    pub max_concurrency: Option<i64>,
    pub retries: i16,
    pub next_run_at: Option<DbTime>,
    pub created_by: DbId<kind::User>,
    pub created_at: DbTime,
    pub revision: i64,
    pub catch_up: Option<DbText<CatchUp>>,
    pub catch_up_minutes: Option<i64>,
    pub overlap: Option<DbText<Overlap>>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(belongs_to = "super::apps::Entity", from = "Column::AppId", to = "super::apps::Column::Id")]
    App,
}

impl ActiveModelBehavior for ActiveModel {}
