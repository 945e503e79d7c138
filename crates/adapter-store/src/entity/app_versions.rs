//! `app_versions`: versions of apps.

use ::apps::{VersionKind, versions::ChangeBuilder};
use kernel::id::kind;
use sea_orm::entity::prelude::*;

use super::column::{DbId, DbText, DbTime};

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "app_versions")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: DbId<kind::Version>,
    pub app_id: DbId<kind::App>,
    pub workspace_id: DbId<kind::Workspace>,
    pub number: i64,
    pub created_at: DbTime,
    pub created_by: DbId<kind::User>,
    pub bundle_hash: String,
    pub trust_score: i16,
    pub handlers: Option<i16>,
    pub kind: DbText<VersionKind>,
    pub summary: String,
    pub base_version_id: Option<DbId<kind::Version>>,
    pub manifest: String,
    pub files: String,
    pub permissions_hash: Option<String>,
    pub instruction: Option<String>,
    pub builder: Option<DbText<ChangeBuilder>>,
    pub stored_bytes: Option<i64>,
    pub files_deleted_at: Option<DbTime>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(belongs_to = "super::apps::Entity", from = "Column::AppId", to = "super::apps::Column::Id")]
    App,
    /// The app whose current version it is.
    #[sea_orm(
        belongs_to = "super::apps::Entity",
        from = "Column::Id",
        to = "super::apps::Column::CurrentVersionId"
    )]
    CurrentOf,
    #[sea_orm(
        belongs_to = "super::users::Entity",
        from = "Column::CreatedBy",
        to = "super::users::Column::Id"
    )]
    Creator,
}

impl ActiveModelBehavior for ActiveModel {}
