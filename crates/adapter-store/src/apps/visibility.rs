//! The apps that a person can view, as conditions; the list form of the rules in `kernel::authority`.

use kernel::{
    authority::{AppRightName, Member, Role, Sharing, Visibility},
    id::{UserId, WorkspaceId},
};
use sea_orm::{
    ColumnTrait as _, Condition, EntityTrait as _, QueryFilter as _, QuerySelect as _, QueryTrait as _,
    Select,
    sea_query::{ExprTrait as _, SelectStatement},
};

use crate::entity::{
    app_grants, apps,
    column::{DbId, DbText},
};

/// The condition that a person can view an app.
pub(crate) fn visible_apps(visible: Visibility) -> Condition {
    match visible {
        Visibility::All => Condition::all(),
        Visibility::Shared { user, sharing_levels } => Condition::any()
            .add(apps::Column::Sharing.is_in(sharing_levels.iter().copied().map(DbText)))
            .add_option(user.map(|user| apps::Column::CreatedBy.eq(DbId(user))))
            .add_option(user.map(|user| apps::Column::Id.in_subquery(apps_granted_to(user)))),
    }
}

fn apps_granted_to(user: UserId) -> SelectStatement {
    app_grants::Entity::find()
        .select_only()
        .column(app_grants::Column::AppId)
        .filter(app_grants::Column::UserId.eq(DbId(user)))
        .into_query()
}

/// Selects the ids of a workspace's apps that a person can view, deleted or not; none if that is all of them.
pub(crate) fn viewable_app_ids(workspace: WorkspaceId, visible: Visibility) -> Option<SelectStatement> {
    if let Visibility::All = visible {
        return None;
    }
    Some(select_ids(workspace).filter(visible_apps(visible)).into_query())
}

/// Selects the ids of a workspace's apps that a person can view, as a subquery for lists of other things. What belongs
/// to a deleted app is not listed, as it cannot be read one by one either.
pub(crate) fn visible_app_ids(workspace: WorkspaceId, visible: Visibility) -> SelectStatement {
    select_ids(workspace).filter(apps::Column::DeletedAt.is_null()).filter(visible_apps(visible)).into_query()
}

/// Selects the ids of a workspace's apps that a member can edit, deleted ones excepted.
pub(crate) fn editable_app_ids(member: &Member) -> SelectStatement {
    let edit = i16::from(1_u8 << AppRightName::CanEdit as u8);
    let ids = select_ids(member.workspace()).filter(apps::Column::DeletedAt.is_null());
    let Visibility::Shared { user, .. } = member.visibility() else { return ids.into_query() };
    let by_role: &[Sharing] =
        if member.role().at_least(Role::Builder) { &[Sharing::Team, Sharing::Workspace] } else { &[] };
    let granted = user.map(|user| {
        let may_edit = app_grants::Column::Rights.into_expr().bit_and(edit).ne(0);
        let grants = app_grants::Entity::find()
            .select_only()
            .column(app_grants::Column::AppId)
            .filter(app_grants::Column::UserId.eq(DbId(user)))
            .filter(may_edit);
        apps::Column::Id.in_subquery(grants.into_query())
    });
    let can_edit = Condition::any()
        .add(apps::Column::Sharing.is_in(by_role.iter().copied().map(DbText)))
        .add_option(user.map(|user| apps::Column::CreatedBy.eq(DbId(user))))
        .add_option(granted);
    ids.filter(can_edit).into_query()
}

fn select_ids(workspace: WorkspaceId) -> Select<apps::Entity> {
    apps::Entity::find()
        .select_only()
        .column(apps::Column::Id)
        .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
}
