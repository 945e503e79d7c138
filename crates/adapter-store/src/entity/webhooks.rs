//! `webhooks`: webhooks of automations. `revision` counts changes.

use ::runs::webhooks::ProofMode;
use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "webhooks")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Hook>,
    pub automation_id: DbId<kind::Automation>,
    pub workspace_id: DbId<kind::Workspace>,
    pub mode: DbText<ProofMode>,
    pub secret_sealed: Option<String>,
    pub token_digest: Option<Vec<u8>>,
    pub hint: Option<String>,
    pub enabled: bool,
    pub per_minute: i64,
    pub created_at: DbTime,
    pub updated_at: DbTime,
    pub revision: i64,
    pub form: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(
        belongs_to = "super::automations::Entity",
        from = "Column::AutomationId",
        to = "super::automations::Column::Id"
    )]
    Automation,
    #[sea_orm(
        belongs_to = "super::workspaces::Entity",
        from = "Column::WorkspaceId",
        to = "super::workspaces::Column::Id"
    )]
    Workspace,
}

impl ActiveModelBehavior for ActiveModel {}
