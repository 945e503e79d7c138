//! `run_queue`: work still to be done; its size follows the work at hand, not the history.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "run_queue")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub run_id: DbId<kind::Run>,
    pub workspace_id: DbId<kind::Workspace>,
    pub automation_id: Option<DbId<kind::Automation>>,
    pub state: QueueState,
    pub available_at: DbTime,
    pub attempt: i64,
    pub leased_by: Option<DbId<kind::Node>>,
    pub leased_until: Option<DbTime>,
}

/// State of a queue entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "i16", db_type = "SmallInteger")]
pub enum QueueState {
    /// Can be claimed once it is due.
    Ready = 0,
    /// Leased by a node.
    Leased = 1,
    /// Held back by its automation's concurrency limit.
    ConcurrencyBlocked = 2,
    /// Held because the workspace's runs of the month were used up.
    Held = 3,
    /// Awaits a person's answer.
    AwaitingApproval = 4,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(belongs_to = "super::runs::Entity", from = "Column::RunId", to = "super::runs::Column::Id")]
    Run,
}

impl Related<super::runs::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Run.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
