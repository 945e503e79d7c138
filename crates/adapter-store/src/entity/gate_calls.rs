//! `gate_calls`: requests by gate and five minutes.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "gate_calls")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub gate_id: DbId<kind::Gate>,
    #[sea_orm(primary_key, auto_increment = false)]
    pub bucket: i64,
    pub workspace_id: DbId<kind::Workspace>,
    pub calls: i64,
    pub errors: i64,
    pub blocked: i64,
    pub last_call_at: Option<DbTime>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
