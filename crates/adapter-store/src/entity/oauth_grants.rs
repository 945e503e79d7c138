//! `oauth_grants`: grants of people to agent clients.

use ::identity::oauth::AgentAccess;
use ::identity::oauth::ClientKind;
use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_grants")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Grant>,
    pub workspace_id: DbId<kind::Workspace>,
    pub user_id: DbId<kind::User>,
    pub client_id: String,
    pub client_kind: DbText<ClientKind>,
    pub client_name: String,
    pub client_host: Option<String>,
    pub access: DbText<AgentAccess>,
    pub audience: String,
    pub created_at: DbTime,
    pub last_used_at: Option<DbTime>,
    pub expires_at: DbTime,
    pub revoked_at: Option<DbTime>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
