//! `oauth_access_tokens`: access tokens of agent clients.

use ::identity::oauth::AgentAccess;
use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_access_tokens")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Token>,
    pub digest: Vec<u8>,
    pub grant_id: DbId<kind::Grant>,
    pub workspace_id: DbId<kind::Workspace>,
    pub access: DbText<AgentAccess>,
    pub prefix: String,
    pub last4: String,
    pub created_at: DbTime,
    pub expires_at: DbTime,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
