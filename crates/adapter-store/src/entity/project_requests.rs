//! `project_requests`: latest requests to the data API of each project.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "project_requests")]
pub struct Model {
    #[sea_orm(primary_key)]
    pub id: i64,
    pub project_id: DbId<kind::Project>,
    pub at: DbTime,
    pub method: String,
    pub path: String,
    pub rows_table: Option<String>,
    pub status: i64,
    pub micros: i64,
    pub key_id: DbId<kind::ProjectKey>,
    pub row_count: Option<i64>,
    pub error_code: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
