//! `oauth_authorizations`: authorization requests of agent clients. The stage says which of the later columns are set.

use ::identity::oauth::ClientKind;
use ::identity::oauth::{AgentAccess, RedirectUri};
use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_authorizations")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Authorization>,
    pub client_id: String,
    pub client_kind: DbText<ClientKind>,
    pub client_name: String,
    pub client_host: Option<String>,
    pub homepage_host: Option<String>,
    pub redirect: DbText<RedirectUri>,
    pub state: Option<String>,
    pub challenge: Vec<u8>,
    pub audience: String,
    pub requested: DbText<AgentAccess>,
    pub created_at: DbTime,
    pub expires_at: DbTime,
    pub stage: Stage,
    pub user_id: Option<DbId<kind::User>>,
    pub workspace_id: Option<DbId<kind::Workspace>>,
    pub access: Option<DbText<AgentAccess>>,
    pub code_until: Option<DbTime>,
    pub code_digest: Option<Vec<u8>>,
    pub grant_id: Option<DbId<kind::Grant>>,
}

/// Stage of an authorization request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text")]
pub enum Stage {
    #[sea_orm(string_value = "waiting")]
    Waiting,
    #[sea_orm(string_value = "seen")]
    Seen,
    #[sea_orm(string_value = "denied")]
    Denied,
    #[sea_orm(string_value = "allowed")]
    Allowed,
    #[sea_orm(string_value = "redeemed")]
    Redeemed,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
