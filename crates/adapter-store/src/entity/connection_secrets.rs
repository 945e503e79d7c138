//! `connection_secrets`: sealed secrets and access tokens of connections.

use ::connections::connection::SecretPurpose;
use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "connection_secrets")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub connection_id: DbId<kind::Connection>,
    #[sea_orm(primary_key, auto_increment = false)]
    pub purpose: DbText<SecretPurpose>,
    pub workspace_id: DbId<kind::Workspace>,
    pub sealed: String,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
