//! `sessions`: sign-ins of people in browsers. The nullable columns came later: older rows lack them.

use ::identity::sessions::SignInMethod;
use kernel::id::kind;
use sea_orm::entity::prelude::*;
use std::net::IpAddr;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "sessions")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Session>,
    pub digest: Vec<u8>,
    pub user_id: DbId<kind::User>,
    pub workspace_id: Option<DbId<kind::Workspace>>,
    pub dev_login: bool,
    pub created_at: DbTime,
    pub expires_at: DbTime,
    pub last_seen_at: Option<DbTime>,
    pub address: Option<DbText<IpAddr>>,
    pub device: Option<String>,
    pub method: Option<DbText<SignInMethod>>,
    pub auth_at: Option<DbTime>,
    pub stepped_up_at: Option<DbTime>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
