//! `repeat_signatures`: signatures of calls that repeated an earlier one and have no delivery of their own; SQLite only.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "repeat_signatures")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub expires_at: DbTime,
    #[sea_orm(primary_key, auto_increment = false)]
    pub webhook_id: DbId<kind::Hook>,
    #[sea_orm(primary_key, auto_increment = false)]
    pub signature: Vec<u8>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
