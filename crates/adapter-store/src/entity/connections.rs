//! `connections`: outside services that apps may call; `http` and `field_values` are JSON.

use ::connections::connection::ConnectionStatusName;
use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "connections")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Connection>,
    pub workspace_id: DbId<kind::Workspace>,
    pub connector: String,
    pub display_name: String,
    pub status: DbText<ConnectionStatusName>,
    pub status_since: Option<DbTime>,
    pub auth_failures: i64,
    pub connected_at: Option<DbTime>,
    pub key_id: Option<String>,
    pub secret_version: i64,
    pub http: String,
    pub field_values: String,
    pub service_account: Option<String>,
    pub created_at: DbTime,
    pub updated_at: DbTime,
    pub revision: i64,
    /// End of the reservation of a renewal of the access token.
    pub renewal_until: Option<DbTime>,
    /// Last test, as JSON.
    pub last_check: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
