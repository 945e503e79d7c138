//! `run_inputs`: inputs of runs, apart from the runs so that lists never read them.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::DbId;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "run_inputs")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub run_id: DbId<kind::Run>,
    pub input: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
