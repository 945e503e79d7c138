//! The objects that audit entries are about: one query for each kind of id, whatever their number.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ::workspace::audit_log::{AuditedObject, NamedObject};
use kernel::{
    Id, StoreError,
    id::{Kind, WorkspaceId, kind},
};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter as _, QuerySelect as _};

use crate::{
    entity::{
        agent_tools, app_changes, app_versions, approvals, apps, automations, backend_projects,
        column::{DbId, DbTime},
        connections, dead_letters, gates, imports, invites, oauth_grants, project_keys, runs, users,
        webhooks,
    },
    error::OrStoreError as _,
    store::Store,
};

/// An object of one kind, before its app, automation and project are read.
#[derive(Default)]
struct Row {
    name: Option<String>,
    app: Option<DbId<kind::App>>,
    automation: Option<DbId<kind::Automation>>,
    project: Option<DbId<kind::Project>>,
}

impl Row {
    fn named(name: String) -> Self {
        Self { name: Some(name), ..Self::default() }
    }

    fn of_app(self, app: DbId<kind::App>) -> Self {
        Self { app: Some(app), ..self }
    }

    fn of_automation(self, automation: Option<DbId<kind::Automation>>) -> Self {
        Self { automation, ..self }
    }

    fn of_project(self, project: DbId<kind::Project>) -> Self {
        Self { project: Some(project), ..self }
    }
}

/// Returns the ids of one kind among texts.
fn ids_of<K: Kind>(targets: &[&str]) -> Vec<DbId<K>> {
    targets.iter().filter_map(|target| target.parse::<Id<K>>().ok()).map(DbId).collect()
}

/// Adds the rows of a table whose ids are among the targets: its columns, and the [`Row`] of them.
macro_rules! add_rows {
    ($rows:ident, $store:expr, $workspace:ident, $targets:ident, $table:ident, $kind:ident, ($($column:ident: $type:ty),+) => $row:expr) => {{
        let ids = ids_of::<kind::$kind>($targets);
        if !ids.is_empty() {
            let found: Vec<(DbId<kind::$kind>, $($type),+)> = $table::Entity::find()
                .filter($table::Column::WorkspaceId.eq(DbId($workspace)))
                .filter($table::Column::Id.is_in(ids))
                .select_only()
                .columns([$table::Column::Id, $($table::Column::$column),+])
                .into_tuple()
                .all($store.read())
                .await
                .or_store_error()?;
            let row: fn($($type),+) -> Row = $row;
            #[expect(non_snake_case, reason = "the names of columns")]
            for (id, $($column),+) in found {
                $rows.insert(id.0.to_string(), row($($column),+));
            }
        }
    }};
}

/// Reads the objects with these ids.
pub(super) async fn read(
    store: &Store,
    workspace: WorkspaceId,
    targets: &[&str],
) -> Result<BTreeMap<String, AuditedObject>, StoreError> {
    let mut rows = BTreeMap::new();
    type App = DbId<kind::App>;
    type Automation = Option<DbId<kind::Automation>>;
    add_rows!(rows, store, workspace, targets, app_versions, Version, (Number: i64, AppId: App) => |number, app| Row::named(number.to_string()).of_app(app));
    add_rows!(rows, store, workspace, targets, app_changes, Change, (AppId: App) => |app| Row::default().of_app(app));
    add_rows!(rows, store, workspace, targets, approvals, Approval, (Title: String, AppId: App) => |title, app| Row::named(title).of_app(app));
    add_rows!(rows, store, workspace, targets, imports, Import, (Name: String, AppId: Option<App>) => |name, app| Row { app, ..Row::named(name) });
    add_rows!(rows, store, workspace, targets, webhooks, Hook, (AutomationId: DbId<kind::Automation>) => |automation| Row::default().of_automation(Some(automation)));
    add_rows!(rows, store, workspace, targets, agent_tools, AgentTool, (Title: String, AppId: App, AutomationId: DbId<kind::Automation>) => |title, app, automation| Row::named(title).of_app(app).of_automation(Some(automation)));
    add_rows!(rows, store, workspace, targets, runs, Run, (AppId: App, AutomationId: Automation) => |app, automation| Row::default().of_app(app).of_automation(automation));
    add_rows!(rows, store, workspace, targets, dead_letters, DeadLetter, (AppId: App, AutomationId: Automation) => |app, automation| Row::default().of_app(app).of_automation(automation));
    add_rows!(rows, store, workspace, targets, gates, Gate, (Name: String) => Row::named);
    add_rows!(rows, store, workspace, targets, connections, Connection, (DisplayName: String) => Row::named);
    add_rows!(rows, store, workspace, targets, invites, Invite, (Email: String) => Row::named);
    add_rows!(rows, store, workspace, targets, oauth_grants, Grant, (ClientName: String) => Row::named);
    for app in ids_of::<kind::App>(targets) {
        rows.insert(app.0.to_string(), Row::default().of_app(app));
    }
    for automation in ids_of::<kind::Automation>(targets) {
        rows.insert(automation.0.to_string(), Row::default().of_automation(Some(automation)));
    }
    for project in ids_of::<kind::Project>(targets) {
        rows.insert(project.0.to_string(), Row::default().of_project(project));
    }
    add_project_keys(store, targets, &mut rows).await?;
    add_people(store, targets, &mut rows).await?;
    name_owners(store, workspace, rows).await
}

/// Adds keys; their project says whose they are.
async fn add_project_keys(
    store: &Store,
    targets: &[&str],
    rows: &mut BTreeMap<String, Row>,
) -> Result<(), StoreError> {
    use project_keys::Column;
    let ids = ids_of::<kind::ProjectKey>(targets);
    if ids.is_empty() {
        return Ok(());
    }
    let found: Vec<(DbId<kind::ProjectKey>, String, DbId<kind::Project>)> = project_keys::Entity::find()
        .filter(Column::Id.is_in(ids))
        .select_only()
        .columns([Column::Id, Column::Name, Column::ProjectId])
        .into_tuple()
        .all(store.read())
        .await
        .or_store_error()?;
    for (id, name, project) in found {
        rows.insert(id.0.to_string(), Row::named(name).of_project(project));
    }
    Ok(())
}

/// Adds people: members, and those that were.
async fn add_people(
    store: &Store,
    targets: &[&str],
    rows: &mut BTreeMap<String, Row>,
) -> Result<(), StoreError> {
    let ids = ids_of::<kind::User>(targets);
    if ids.is_empty() {
        return Ok(());
    }
    let found: Vec<(DbId<kind::User>, String)> = users::Entity::find()
        .filter(users::Column::Id.is_in(ids))
        .select_only()
        .columns([users::Column::Id, users::Column::Name])
        .into_tuple()
        .all(store.read())
        .await
        .or_store_error()?;
    rows.extend(found.into_iter().map(|(id, name)| (id.0.to_string(), Row::named(name))));
    Ok(())
}

/// Reads the names of apps, automations and projects, and leaves out what has none in this workspace.
async fn name_owners(
    store: &Store,
    workspace: WorkspaceId,
    rows: BTreeMap<String, Row>,
) -> Result<BTreeMap<String, AuditedObject>, StoreError> {
    let mut automations = HashMap::new();
    let mut of_automation = HashMap::new();
    let ids = distinct(rows.values().filter_map(|row| row.automation));
    if !ids.is_empty() {
        use automations::Column;
        let found: Vec<(DbId<kind::Automation>, String, DbId<kind::App>)> = automations::Entity::find()
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .filter(Column::Id.is_in(ids))
            .select_only()
            .columns([Column::Id, Column::Name, Column::AppId])
            .into_tuple()
            .all(store.read())
            .await
            .or_store_error()?;
        for (id, name, app) in found {
            automations.insert(id, NamedObject { id: id.0, name, is_deleted: false });
            of_automation.insert(id, app);
        }
    }
    // A webhook belongs to the app of its automation.
    let app_of = |row: &Row| row.app.or_else(|| of_automation.get(&row.automation?).copied());
    let ids = distinct(rows.values().filter_map(app_of));
    let apps = {
        use apps::Column;
        let columns = [Column::Id, Column::Name, Column::DeletedAt];
        named_objects::<kind::App, _>(store, workspace, Column::WorkspaceId, columns, ids).await?
    };
    let ids = distinct(rows.values().filter_map(|row| row.project));
    let projects = {
        use backend_projects::Column;
        let columns = [Column::Id, Column::Name, Column::DeletedAt];
        named_objects::<kind::Project, _>(store, workspace, Column::WorkspaceId, columns, ids).await?
    };
    let named = rows.into_iter().filter_map(|(target, row)| {
        let object = AuditedObject {
            app: app_of(&row).and_then(|app| apps.get(&app).cloned()),
            automation: row.automation.and_then(|automation| automations.get(&automation).cloned()),
            project: row.project.and_then(|project| projects.get(&project).cloned()),
            name: row.name,
        };
        // A key has no workspace but that of its project.
        let is_elsewhere = row.project.is_some() && object.project.is_none();
        (!is_elsewhere && object != AuditedObject::default()).then_some((target, object))
    });
    Ok(named.collect())
}

/// Reads objects that keep their rows when they are deleted; `columns` are id, name and time of deletion.
async fn named_objects<K, C>(
    store: &Store,
    workspace: WorkspaceId,
    of_workspace: C,
    columns: [C; 3],
    ids: Vec<DbId<K>>,
) -> Result<HashMap<DbId<K>, NamedObject<Id<K>>>, StoreError>
where
    K: Kind,
    C: ColumnTrait<EntityName: EntityTrait<Column = C>>,
{
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let [id, ..] = columns;
    let found: Vec<(DbId<K>, String, Option<DbTime>)> = <C::EntityName as EntityTrait>::find()
        .filter(of_workspace.eq(DbId(workspace)))
        .filter(id.is_in(ids))
        .select_only()
        .columns(columns)
        .into_tuple()
        .all(store.read())
        .await
        .or_store_error()?;
    let named = |(id, name, deleted_at): (DbId<K>, String, Option<DbTime>)| {
        (id, NamedObject { id: id.0, name, is_deleted: deleted_at.is_some() })
    };
    Ok(found.into_iter().map(named).collect())
}

fn distinct<K>(ids: impl Iterator<Item = DbId<K>>) -> Vec<DbId<K>> {
    let ids: BTreeSet<Id<K>> = ids.map(|id| id.0).collect();
    ids.into_iter().map(DbId).collect()
}
