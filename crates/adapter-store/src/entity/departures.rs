//! `departures`: how people left workspaces, so that nothing brings them back unasked.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "departures")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub workspace_id: DbId<kind::Workspace>,
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: DbId<kind::User>,
    pub kind: DepartureKind,
    pub at: DbTime,
}

/// Way of leaving a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text")]
pub enum DepartureKind {
    #[sea_orm(string_value = "left")]
    Left,
    #[sea_orm(string_value = "removed")]
    Removed,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
