//! `gates`: permissions of workspaces to reach hosts.

use ::connections::GateHost;
use ::connections::GateStatus;
use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "gates")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Gate>,
    pub workspace_id: DbId<kind::Workspace>,
    pub name: String,
    pub host: DbText<GateHost>,
    pub methods: String,
    pub connection_id: Option<DbId<kind::Connection>>,
    pub status: DbText<GateStatus>,
    pub created_at: DbTime,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
