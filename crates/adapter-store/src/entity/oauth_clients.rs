//! `oauth_clients`: agent clients that registered themselves; `redirects` is JSON.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_clients")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::OAuthClient>,
    pub client_id: String,
    pub name: String,
    pub redirects: String,
    pub homepage_host: Option<String>,
    pub created_at: DbTime,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
