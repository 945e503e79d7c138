//! `tokens`: personal access tokens.

use kernel::{caller::Scopes, id::kind};
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "tokens")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Token>,
    pub digest: Vec<u8>,
    pub workspace_id: DbId<kind::Workspace>,
    pub user_id: DbId<kind::User>,
    pub name: String,
    pub scopes: DbText<Scopes>,
    pub prefix: String,
    pub last4: String,
    pub created_at: DbTime,
    pub last_used_at: Option<DbTime>,
    pub expires_at: Option<DbTime>,
    pub revoked_at: Option<DbTime>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
