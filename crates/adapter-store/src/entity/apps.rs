//! `apps`: apps. A deleted one keeps its row.

use ::apps::Category;
use kernel::{authority::Sharing, id::kind};
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "apps")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::App>,
    pub workspace_id: DbId<kind::Workspace>,
    pub slug: String,
    pub name: String,
    pub description: String,
    pub archetype: String,
    pub category: DbText<Category>,
    pub sharing: DbText<Sharing>,
    pub paused: bool,
    pub in_review: bool,
    pub current_version_id: Option<DbId<kind::Version>>,
    pub declares_webhook: bool,
    pub declares_form: bool,
    pub created_by: DbId<kind::User>,
    pub created_at: DbTime,
    pub deleted_at: Option<DbTime>,
    pub revision: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(
        belongs_to = "super::app_observations::Entity",
        from = "Column::Id",
        to = "super::app_observations::Column::AppId"
    )]
    Observation,
}

impl ActiveModelBehavior for ActiveModel {}
