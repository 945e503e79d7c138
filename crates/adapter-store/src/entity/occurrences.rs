//! `occurrences`: moments of schedules, and what became of them.

use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "occurrences")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Occurrence>,
    pub automation_id: DbId<kind::Automation>,
    pub workspace_id: DbId<kind::Workspace>,
    pub due_at: DbTime,
    pub outcome: OccurrenceOutcome,
    pub reason: Option<String>,
    pub run_id: Option<DbId<kind::Run>>,
    pub recorded_at: DbTime,
}

/// Outcome of an occurrence. The first two have a run, the last a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "Text")]
pub enum OccurrenceOutcome {
    #[sea_orm(string_value = "ran")]
    Ran,
    #[sea_orm(string_value = "caught_up")]
    CaughtUp,
    #[sea_orm(string_value = "skipped")]
    Skipped,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
