//! `dead_letters`: failed runs and refused calls, kept for replay. The id is the run's or the delivery's.

use ::runs::TriggerKind;
use ::runs::dead_letters::{DeadLetterKind, DeadLetterState};
use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "dead_letters")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::DeadLetter>,
    pub workspace_id: DbId<kind::Workspace>,
    pub app_id: DbId<kind::App>,
    pub automation_id: Option<DbId<kind::Automation>>,
    pub kind: DbText<DeadLetterKind>,
    pub state: DbText<DeadLetterState>,
    pub trigger_kind: DbText<TriggerKind>,
    pub reason: String,
    pub message: String,
    pub run_id: Option<DbId<kind::Run>>,
    pub delivery_id: Option<DbId<kind::Delivery>>,
    pub call_digest: Option<Vec<u8>>,
    pub version_id: Option<DbId<kind::Version>>,
    pub attempt: i64,
    pub payload: Option<String>,
    pub payload_bytes: i64,
    pub created_at: DbTime,
    pub settled_at: Option<DbTime>,
    pub settled_by: Option<DbId<kind::User>>,
    pub replay_run_id: Option<DbId<kind::Run>>,
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
        from = "Column::RunId",
        to = "super::run_inputs::Column::RunId"
    )]
    Input,
    #[sea_orm(
        belongs_to = "super::users::Entity",
        from = "Column::SettledBy",
        to = "super::users::Column::Id"
    )]
    SettledBy,
    #[sea_orm(
        belongs_to = "super::webhooks::Entity",
        from = "Column::AutomationId",
        to = "super::webhooks::Column::AutomationId"
    )]
    Webhook,
}

impl ActiveModelBehavior for ActiveModel {}
