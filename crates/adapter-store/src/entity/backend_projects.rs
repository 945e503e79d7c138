//! `backend_projects`: backend projects; `settings` is JSON.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "backend_projects")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Project>,
    pub workspace_id: DbId<kind::Workspace>,
    pub name: String,
    pub slug: String,
    pub description: String,
    pub shard: i64,
    pub settings: String,
    pub created_by: DbId<kind::User>,
    pub created_at: DbTime,
    pub deleted_at: Option<DbTime>,
    pub deleted_by: Option<DbId<kind::User>>,
    pub purge_started_at: Option<DbTime>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
