//! `passkey_ceremonies`: passkey ceremonies under way.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "passkey_ceremonies")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Ceremony>,
    pub kind: CeremonyKind,
    pub session_id: Option<DbId<kind::Session>>,
    pub state: String,
    pub expires_at: DbTime,
}

/// Purpose of a ceremony. All but signing in belong to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text")]
pub enum CeremonyKind {
    #[sea_orm(string_value = "register")]
    Register,
    #[sea_orm(string_value = "sign_in")]
    SignIn,
    #[sea_orm(string_value = "step_up")]
    StepUp,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
