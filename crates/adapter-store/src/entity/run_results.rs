//! `run_results`: what the code of runs returned, apart from the runs so that lists never read it.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::DbId;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "run_results")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub run_id: DbId<kind::Run>,
    pub result: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(belongs_to = "super::runs::Entity", from = "Column::RunId", to = "super::runs::Column::Id")]
    Run,
}

impl ActiveModelBehavior for ActiveModel {}
