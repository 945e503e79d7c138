//! `audit_log`: the audit log.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "audit_log")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Audit>,
    pub at: DbTime,
    pub workspace_id: Option<DbId<kind::Workspace>>,
    pub actor: String,
    pub action: String,
    pub target: Option<String>,
    pub request_id: DbId<kind::Request>,
    pub address: Option<String>,
    pub detail: Option<String>,
    /// The app that was changed, or that the changed object belongs to.
    pub app_id: Option<DbId<kind::App>>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
