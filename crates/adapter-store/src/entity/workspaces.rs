//! `workspaces`: workspaces. `revision` counts changes of what accepting a call depends on.

use ::workspace::Plan;
use ::workspace::workspaces::{Currency, Profile, TeamSize};
use kernel::{Locale, id::kind};
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "workspaces")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Workspace>,
    pub slug: String,
    pub name: String,
    pub profile: DbText<Profile>,
    pub team_size: DbText<TeamSize>,
    pub intents: String,
    pub locale: DbText<Locale>,
    pub timezone: String,
    pub currency: DbText<Currency>,
    pub hourly_cost_minor: i64,
    pub plan: DbText<Plan>,
    pub revision: i64,
    pub created_at: DbTime,
    pub deleted_at: Option<DbTime>,
    pub deleted_by: Option<DbId<kind::User>>,
    pub purge_started_at: Option<DbTime>,
    pub created_by: Option<DbId<kind::User>>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
