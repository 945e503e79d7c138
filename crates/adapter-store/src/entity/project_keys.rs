//! `project_keys`: keys of backend projects; `tables` is JSON.

use ::projects::KeyKind;
use ::projects::KeyScopes;
use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "project_keys")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::ProjectKey>,
    pub digest: Vec<u8>,
    pub project_id: DbId<kind::Project>,
    pub name: String,
    pub kind: DbText<KeyKind>,
    pub scopes: DbText<KeyScopes>,
    pub tables: Option<String>,
    pub prefix: String,
    pub last4: String,
    pub created_by: DbId<kind::User>,
    pub created_at: DbTime,
    pub last_used_at: Option<DbTime>,
    pub revoked_at: Option<DbTime>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
