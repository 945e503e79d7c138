//! `notifications`: what people of a workspace are told, by the number of its event.

use kernel::id::kind;
use observability::notifications::NotificationKind;
use sea_orm::entity::prelude::*;
use uuid::Uuid;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "notifications")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub workspace_id: DbId<kind::Workspace>,
    #[sea_orm(primary_key, auto_increment = false)]
    pub seq: i64,
    pub at: DbTime,
    pub kind: DbText<NotificationKind>,
    /// The app, automation or connection.
    pub subject_id: Uuid,
    pub app_id: Option<DbId<kind::App>>,
    pub run_id: Option<DbId<kind::Run>>,
    pub code: String,
    /// Hours since 1970.
    pub hour: i64,
    /// Alerts about the same object in the same hour that followed.
    pub repeats: i64,
    /// Time at which the deliveries are to be planned; none once they are.
    pub plan_due_at: Option<DbTime>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
