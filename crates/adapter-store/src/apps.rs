//! The ports of `apps`.

mod changes;
mod read;
mod write;

use ::apps::{App, AppVersion};
use kernel::{Id, StoreError, authority::Visibility};
use sea_orm::{
    ColumnTrait as _, Condition, EntityTrait as _, QueryFilter as _, QuerySelect as _,
    sea_query::{Query, SelectStatement},
};

use crate::{
    convert::RowContext,
    entity::{app_grants, app_versions, apps},
};

fn app(model: apps::Model) -> Result<App, StoreError> {
    let row = RowContext { table: "apps", id: model.id };
    Ok(App {
        id: Id::from_uuid(model.id),
        workspace: Id::from_uuid(model.workspace_id),
        category: row.parse(&model.category)?,
        sharing: row.parse(&model.sharing)?,
        is_paused: model.paused,
        current_version: model.current_version_id.map(Id::from_uuid),
        created_by: Id::from_uuid(model.created_by),
        created_at: row.timestamp(model.created_at)?,
        slug: model.slug,
        name: model.name,
        description: model.description,
        archetype: model.archetype,
    })
}

fn version(model: &app_versions::Model, created_by_name: Option<String>) -> Result<AppVersion, StoreError> {
    let row = RowContext { table: "app_versions", id: model.id };
    Ok(AppVersion {
        id: Id::from_uuid(model.id),
        app: Id::from_uuid(model.app_id),
        workspace: Id::from_uuid(model.workspace_id),
        number: row.number(model.number)?,
        created_at: row.timestamp(model.created_at)?,
        created_by: Id::from_uuid(model.created_by),
        bundle_hash: model.bundle_hash.clone(),
        trust_score: row.number(model.trust_score.into())?,
        kind: row.parse(&model.kind)?,
        summary: model.summary.clone(),
        base: model.base_version_id.map(Id::from_uuid),
        created_by_name,
    })
}

/// Only apps that a person can view; the list form of the rules in `kernel::authority`.
pub(crate) fn visible_apps(visible: Visibility) -> Condition {
    match visible {
        Visibility::All => Condition::all(),
        Visibility::Shared { user, sharing_levels: with } => Condition::any()
            .add(apps::Column::CreatedBy.eq(user.uuid()))
            .add(apps::Column::Sharing.is_in(with.iter().map(|sharing| sharing.as_str())))
            .add(apps::Column::Id.in_subquery(apps_granted_to(user))),
    }
}

fn apps_granted_to(user: kernel::id::UserId) -> SelectStatement {
    use sea_orm::sea_query::ExprTrait as _;
    Query::select()
        .column(app_grants::Column::AppId)
        .from(app_grants::Entity)
        .and_where(sea_orm::sea_query::Expr::col(app_grants::Column::UserId).eq(user.uuid()))
        .to_owned()
}

/// The ids of a workspace's apps that a person can view, as a subquery for lists of other things. What belongs to a
/// deleted app is not listed, as it cannot be read one by one either.
pub(crate) fn visible_app_ids(workspace: kernel::id::WorkspaceId, visible: Visibility) -> SelectStatement {
    use sea_orm::QueryTrait as _;
    apps::Entity::find()
        .select_only()
        .column(apps::Column::Id)
        .filter(apps::Column::WorkspaceId.eq(workspace.uuid()))
        .filter(apps::Column::DeletedAt.is_null())
        .filter(visible_apps(visible))
        .into_query()
}
