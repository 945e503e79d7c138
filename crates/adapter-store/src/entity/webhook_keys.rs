//! `webhook_keys`: keys that make two calls of one webhook the same.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "webhook_keys")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub webhook_id: DbId<kind::Hook>,
    #[sea_orm(primary_key, auto_increment = false)]
    pub digest: Vec<u8>,
    pub run_id: DbId<kind::Run>,
    pub delivery_id: DbId<kind::Delivery>,
    pub expires_at: DbTime,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
