//! `sign_ins`: e-mail sign-ins under way, by address.

use sea_orm::entity::prelude::*;

use super::column::DbTime;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "sign_ins")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub email: String,
    pub code_digest: Vec<u8>,
    pub link_digest: Option<Vec<u8>>,
    pub tries_left: i16,
    pub expires_at: DbTime,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
