//! `deliveries`: calls of webhooks, accepted or refused.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "deliveries")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Delivery>,
    pub webhook_id: DbId<kind::Hook>,
    pub workspace_id: DbId<kind::Workspace>,
    pub run_id: Option<DbId<kind::Run>>,
    pub refusal: Option<String>,
    pub received_at: DbTime,
    pub bytes: i64,
    pub sample: bool,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
