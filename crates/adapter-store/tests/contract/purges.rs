//! The purge of deleted workspaces and projects: nothing of them is left, and nothing else is touched.

use std::collections::BTreeMap;

use ::projects::projects::deletion::ProjectPurge as _;
use ::workspace::workspaces::deletion::{DeletionTx as _, WorkspacePurge as _};
use kernel::{Id, id::WorkspaceId};
use sea_orm::{ConnectionTrait as _, DatabaseConnection, Statement};
use uuid::Uuid;

use crate::{
    contract,
    harness::{Database, World, at, connect},
};

contract!(nothing_of_a_purged_workspace_is_left, only_what_was_deleted_long_ago_is_purged,);

/// Columns that say which workspace a row is of, directly or through another row.
const OWNERS: [&str; 10] = [
    "workspace_id",
    "approved_workspace_id",
    "app_id",
    "automation_id",
    "webhook_id",
    "project_id",
    "grant_id",
    "run_id",
    "connection_id",
    "tool_id",
];
/// Tables whose rows are of a person, and only mention a workspace.
const OF_PEOPLE: [&str; 1] = ["sessions"];
/// Tables that others refer to, in the order in which they are filled; their `id` is that of the owner's column.
const PARENTS: [(&str, &str); 10] = [
    ("workspaces", "workspace_id"),
    ("apps", "app_id"),
    ("app_versions", ""),
    ("automations", "automation_id"),
    ("webhooks", "webhook_id"),
    ("backend_projects", "project_id"),
    ("oauth_grants", "grant_id"),
    ("runs", "run_id"),
    ("connections", "connection_id"),
    ("agent_tools", "tool_id"),
];

/// A column of the schema.
struct Column {
    name: String,
    kind: String,
}

/// The schema as the database has it, so that a table that is added later is tested too.
struct Schema {
    db: DatabaseConnection,
    tables: BTreeMap<String, Vec<Column>>,
}

impl Schema {
    async fn read(world: &World) -> Self {
        let db = connect(&world.database.url).await;
        let sql = if world.database.is_postgres() {
            "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'public' \
             ORDER BY table_name, ordinal_position"
        } else {
            "SELECT m.name, c.name, lower(c.type) FROM sqlite_master m JOIN pragma_table_info(m.name) c \
             WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' ORDER BY m.name, c.cid"
        };
        let mut tables = BTreeMap::<String, Vec<Column>>::new();
        let statement = Statement::from_string(db.get_database_backend(), sql);
        for row in db.query_all_raw(statement).await.unwrap() {
            let text = |index| row.try_get_by_index::<String>(index).unwrap();
            tables.entry(text(0)).or_default().push(Column { name: text(1), kind: text(2) });
        }
        Self { db, tables }
    }

    /// Returns the tables with rows of a workspace, each with the column that says so.
    fn owned_tables(&self) -> Vec<(&str, &'static str)> {
        let owned = self.tables.iter().filter(|(table, _)| !OF_PEOPLE.contains(&table.as_str()));
        let owner = |columns: &[Column]| {
            OWNERS.into_iter().find(|owner| columns.iter().any(|column| column.name == *owner))
        };
        owned.filter_map(|(table, columns)| Some((table.as_str(), owner(columns)?))).collect()
    }

    /// A UUID as the database writes it.
    fn uuid(&self, uuid: Uuid) -> String {
        match self.db.get_database_backend() {
            sea_orm::DbBackend::Postgres => format!("'{uuid}'::uuid"),
            _ => format!("x'{}'", uuid.simple()),
        }
    }

    /// Inserts a row whose columns have the owner's ids, and made up values elsewhere.
    async fn insert_row(&self, table: &str, id: Option<Uuid>, owners: &BTreeMap<&str, Uuid>, user: Uuid) {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for column in &self.tables[table] {
            let name = column.name.as_str();
            let is_number =
                ["bigint", "integer", "smallint", "double precision"].contains(&column.kind.as_str());
            let value = match name {
                "id" if is_number => continue,
                "id" => self.uuid(id.unwrap_or_else(Uuid::new_v4)),
                _ if owners.contains_key(name) => self.uuid(owners[name]),
                "user_id" | "invited_by" | "approved_by" => self.uuid(user),
                // What is not set cannot be in the way of a unique index.
                "deleted_at" | "deleted_by" | "purge_started_at" | "settled_at" | "spent_at"
                | "verified_at" => continue,
                _ if is_number => "1".to_owned(),
                _ => match column.kind.as_str() {
                    "boolean" => "false".to_owned(),
                    "uuid" => self.uuid(Uuid::new_v4()),
                    "bytea" => format!("'\\x{}'::bytea", Uuid::new_v4().simple()),
                    "blob" => format!("x'{}'", Uuid::new_v4().simple()),
                    _ => format!("'{}'", Uuid::new_v4()),
                },
            };
            names.push(name);
            values.push(value);
        }
        let sql = format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), values.join(", "));
        self.db.execute_unprepared(&sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    }

    /// Inserts a row of a new workspace into every table that has rows of workspaces; returns the owners' ids.
    async fn fill(&self, user: Uuid) -> BTreeMap<&'static str, Uuid> {
        let mut owners: BTreeMap<&'static str, Uuid> =
            OWNERS.into_iter().map(|owner| (owner, Uuid::new_v4())).collect();
        owners.insert("approved_workspace_id", owners["workspace_id"]);
        for (table, owner) in PARENTS {
            self.insert_row(table, owners.get(owner).copied(), &owners, user).await;
        }
        for (table, _) in self.owned_tables() {
            if !PARENTS.iter().any(|(parent, _)| *parent == table) {
                self.insert_row(table, None, &owners, user).await;
            }
        }
        owners
    }

    /// Counts the rows of an owner in each table.
    async fn count(&self, owners: &BTreeMap<&'static str, Uuid>) -> BTreeMap<String, i64> {
        let mut counts = BTreeMap::new();
        let of_workspace = [("workspaces", "id", "workspace_id")];
        let owned = self.owned_tables().into_iter().map(|(table, owner)| (table, owner, owner));
        for (table, column, owner) in owned.chain(of_workspace) {
            let sql = format!("SELECT count(*) FROM {table} WHERE {column} = {}", self.uuid(owners[owner]));
            let statement = Statement::from_string(self.db.get_database_backend(), sql);
            let row = self.db.query_one_raw(statement).await.unwrap().unwrap();
            counts.insert(table.to_owned(), row.try_get_by_index(0).unwrap());
        }
        counts
    }
}

async fn delete(world: &World, workspace: WorkspaceId, moment: i64) {
    world.write(async |tx| tx.mark_workspace_deleted(workspace, at(moment), world.user).await).await;
}

async fn nothing_of_a_purged_workspace_is_left(database: Database) {
    let world = World::new(database).await;
    let schema = Schema::read(&world).await;
    let user = world.user.uuid();
    let (purged, kept) = (schema.fill(user).await, schema.fill(user).await);
    let workspace = Id::from_uuid(purged["workspace_id"]);
    assert!(
        schema.count(&purged).await.values().all(|count| *count > 0),
        "{:?}",
        schema.count(&purged).await
    );
    let before = schema.count(&kept).await;
    assert!(before.len() > 30, "only {} tables", before.len());

    delete(&world, workspace, 0).await;
    let begun = world.store.begin_workspace_purges(at(0), at(9), 10).await.unwrap();
    assert_eq!(begun, [workspace]);
    let projects = world.store.begin_project_purges(at(0), at(9), None, 10).await.unwrap();
    let ids: Vec<Uuid> = projects.iter().map(|it| it.project.uuid()).collect();
    assert_eq!(ids, [purged["project_id"]]);
    assert!(world.store.purge_project(projects[0].project).await.unwrap());
    assert!(world.store.purge_workspace(workspace).await.unwrap());

    let left = schema.count(&purged).await;
    assert!(left.values().all(|count| *count == 0), "{left:?}");
    assert_eq!(schema.count(&kept).await, before);
    // Another node that comes second finds nothing.
    assert!(!world.store.purge_workspace(workspace).await.unwrap());
    assert!(!world.store.purge_project(projects[0].project).await.unwrap());
    assert!(world.store.begin_workspace_purges(at(0), at(9), 10).await.unwrap().is_empty());
}

async fn only_what_was_deleted_long_ago_is_purged(database: Database) {
    let world = World::new(database).await;
    let workspace = world.workspace;
    assert!(world.store.begin_workspace_purges(at(5_000), at(9_000), 10).await.unwrap().is_empty());
    delete(&world, workspace, 5_001).await;
    assert!(world.store.begin_workspace_purges(at(5_000), at(9_000), 10).await.unwrap().is_empty());
    assert!(!world.store.purge_workspace(Id::from_uuid(Uuid::new_v4())).await.unwrap());
    assert_eq!(world.store.begin_workspace_purges(at(5_001), at(9_000), 10).await.unwrap(), [workspace]);
    // Interrupted here, it is found again, and cannot be restored any more.
    assert_eq!(world.store.begin_workspace_purges(at(5_001), at(9_001), 10).await.unwrap(), [workspace]);
    world
        .write(async |tx| {
            assert_eq!(tx.lock_deleted_workspace(workspace).await?, None);
            Ok(())
        })
        .await;
    assert!(world.store.purge_workspace(workspace).await.unwrap());
    assert_eq!((world.count("apps").await, world.count("workspaces").await), (0, 0));
}
