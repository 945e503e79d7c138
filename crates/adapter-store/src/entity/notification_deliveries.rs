//! `notification_deliveries`: deliveries of notifications to people, and channels that reach nobody.

use kernel::id::kind;
use observability::notifications::{Channel, DeliveryReason, DeliveryState};
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "notification_deliveries")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::NotificationDelivery>,
    pub workspace_id: DbId<kind::Workspace>,
    pub seq: i64,
    pub channel: DbText<Channel>,
    /// None if the channel reaches nobody.
    pub user_id: Option<DbId<kind::User>>,
    pub state: DbText<DeliveryState>,
    pub reason: Option<DbText<DeliveryReason>>,
    pub attempts: i32,
    /// None once it has ended.
    pub due_at: Option<DbTime>,
    pub expires_at: DbTime,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
