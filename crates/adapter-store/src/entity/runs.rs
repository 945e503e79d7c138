//! `runs`: runs.

use ::runs::{RunStatus, TriggerKind};
use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "runs")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Run>,
    pub workspace_id: DbId<kind::Workspace>,
    pub app_id: DbId<kind::App>,
    pub automation_id: Option<DbId<kind::Automation>>,
    pub version_id: Option<DbId<kind::Version>>,
    pub trigger_kind: DbText<TriggerKind>,
    pub status: DbText<RunStatus>,
    pub accepted_at: DbTime,
    pub started_at: Option<DbTime>,
    pub finished_at: Option<DbTime>,
    pub attempt: i64,
    pub minutes_saved: f64,
    pub error_code: Option<String>,
    pub error_message: Option<String>,
    pub replay_of: Option<DbId<kind::Run>>,
    pub steps: Option<String>,
    pub scheduled_for: Option<DbTime>,
    pub asked_by_agent: Option<bool>,
    pub answers: Option<String>,
    pub cancelled_by: Option<DbId<kind::User>>,
    pub asked_by_grant: Option<DbId<kind::Grant>>,
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
        belongs_to = "super::app_versions::Entity",
        from = "Column::VersionId",
        to = "super::app_versions::Column::Id"
    )]
    Version,
    #[sea_orm(
        belongs_to = "super::run_inputs::Entity",
        from = "Column::Id",
        to = "super::run_inputs::Column::RunId"
    )]
    Input,
    #[sea_orm(
        belongs_to = "super::workspaces::Entity",
        from = "Column::WorkspaceId",
        to = "super::workspaces::Column::Id"
    )]
    Workspace,
}

impl ActiveModelBehavior for ActiveModel {}
