//! `oauth_refresh_tokens`: refresh tokens of agent clients; each grant has one that is not spent.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_refresh_tokens")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Token>,
    pub digest: Vec<u8>,
    pub grant_id: DbId<kind::Grant>,
    pub workspace_id: DbId<kind::Workspace>,
    pub generation: i64,
    pub created_at: DbTime,
    pub spent_at: Option<DbTime>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
