//! `invites`: offers of membership. One that has expired still stands as pending.

use ::workspace::invites::InviteRole;
use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "invites")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Invite>,
    pub workspace_id: DbId<kind::Workspace>,
    pub email: String,
    pub role: DbText<InviteRole>,
    pub digest: Vec<u8>,
    pub invited_by: DbId<kind::User>,
    pub created_at: DbTime,
    pub days: i64,
    pub expires_at: DbTime,
    pub access_ends_at: Option<DbTime>,
    pub state: InviteStatus,
    pub settled_at: Option<DbTime>,
    pub accepted_by: Option<DbId<kind::User>>,
}

/// Stage of an invite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text")]
pub enum InviteStatus {
    #[sea_orm(string_value = "pending")]
    Pending,
    #[sea_orm(string_value = "accepted")]
    Accepted,
    #[sea_orm(string_value = "revoked")]
    Revoked,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
