//! `join_domains`: domains whose addresses may join; any number of workspaces claim one, and one has proved it.

use ::workspace::join_domains::Domain;
use ::workspace::join_domains::JoinRole;
use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "join_domains")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub workspace_id: DbId<kind::Workspace>,
    pub domain: DbText<Domain>,
    pub proof: String,
    pub auto_join: bool,
    pub role: DbText<JoinRole>,
    pub created_at: DbTime,
    pub verified_at: Option<DbTime>,
    pub recheck_at: Option<DbTime>,
    pub misses: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(
        belongs_to = "super::workspaces::Entity",
        from = "Column::WorkspaceId",
        to = "super::workspaces::Column::Id"
    )]
    Workspace,
}

impl ActiveModelBehavior for ActiveModel {}
