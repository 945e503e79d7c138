//! `webhook_refusals`: calls of webhooks that proved nothing, by minute.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "webhook_refusals")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub webhook_id: DbId<kind::Hook>,
    #[sea_orm(primary_key, auto_increment = false)]
    pub minute: i64,
    pub workspace_id: DbId<kind::Workspace>,
    pub calls: i64,
    pub code: String,
    pub last_at: DbTime,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
