//! `approvals`: questions of runs to people.

use ::runs::approvals::ApprovalState;
use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "approvals")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Approval>,
    pub workspace_id: DbId<kind::Workspace>,
    pub app_id: DbId<kind::App>,
    pub run_id: DbId<kind::Run>,
    pub number: i64,
    pub title: String,
    pub detail: Option<String>,
    pub state: DbText<ApprovalState>,
    pub created_at: DbTime,
    pub expires_at: DbTime,
    pub decided_at: Option<DbTime>,
    pub decided_by: Option<DbId<kind::User>>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
