//! `device_logins`: sign-ins of command lines under way.

use ::identity::device::Purpose;
use kernel::{caller::Scopes, id::kind};
use sea_orm::entity::prelude::*;
use std::net::IpAddr;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "device_logins")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::DeviceLogin>,
    pub device_digest: Vec<u8>,
    pub user_digest: Vec<u8>,
    pub client: String,
    pub purpose: DbText<Purpose>,
    pub name: String,
    pub scopes: DbText<Scopes>,
    pub expires_in_days: i64,
    pub host: Option<String>,
    pub address: Option<DbText<IpAddr>>,
    pub network: Option<DbText<IpAddr>>,
    pub created_at: DbTime,
    pub expires_at: DbTime,
    pub state: DeviceLoginState,
    pub approved_by: Option<DbId<kind::User>>,
    pub approved_workspace_id: Option<DbId<kind::Workspace>>,
    pub approved_scopes: Option<DbText<Scopes>>,
    pub approved_days: Option<i64>,
    pub interval_seconds: i64,
    pub last_poll_at: Option<i64>,
}

/// Stage of a device login.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text")]
pub enum DeviceLoginState {
    #[sea_orm(string_value = "pending")]
    Pending,
    #[sea_orm(string_value = "approved")]
    Approved,
    #[sea_orm(string_value = "denied")]
    Denied,
    #[sea_orm(string_value = "delivered")]
    Delivered,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
