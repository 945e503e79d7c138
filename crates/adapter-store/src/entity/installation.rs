//! `installation`: the one row about the installation as a whole.

use sea_orm::entity::prelude::*;

use super::column::DbTime;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "installation")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: i32,
    pub key_check: Option<String>,
    pub paused: bool,
    pub probe: String,
    pub code_files_from: Option<DbTime>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
