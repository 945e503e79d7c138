//! Imports of workflows.

use ::apps::AppsTx as _;
use ::imports::{
    Format, Report,
    imports::{Import, ImportNeeds, ImportStatus, ImportsRead as _, ImportsTx as _},
    report::{ReportTrigger, Totals, TriggerKind},
};
use kernel::{
    id::{ImportId, UserId},
    page::PageRequest,
};

use crate::{
    contract,
    harness::{Database, World, at},
};

contract!(
    an_import_is_read_as_it_was_written,
    imports_are_listed_newest_first_in_pages,
    only_imports_in_review_are_counted,
    the_import_of_a_deleted_app_is_discarded,
    discarded_imports_expire,
);

fn import_of(world: &World, maker: UserId) -> Import {
    let trigger = ReportTrigger {
        kind: TriggerKind::Schedule,
        cron: Some("0 9 * * *".to_owned()),
        timezone: None,
        item_id: None,
    };
    Import {
        id: world.id(),
        workspace: world.workspace,
        name: "Standup".to_owned(),
        status: ImportStatus::Review,
        app: Some(world.app),
        automation: Some(world.id()),
        report: Report {
            v: 1,
            format: Format::NodeRed,
            name: "\u{1f331}".to_owned(),
            trigger,
            starts: String::new(),
            items: Vec::new(),
            totals: Totals { steps: 2, exact: 1, ..Totals::default() },
            connections: Vec::new(),
            connectors: Vec::new(),
            secrets: Vec::new(),
            warnings: vec!["one".to_owned()],
            can_create: true,
            facts: Vec::new(),
            sentences: Vec::new(),
        },
        needs: ImportNeeds {
            hosts: [("api.example.com".to_owned(), ["GET".to_owned()].into())].into(),
            ..ImportNeeds::default()
        },
        created_by: maker,
        created_at: at(0),
        changed_at: at(0),
    }
}

async fn add(world: &World, import: &Import) {
    world.write(async |tx| tx.insert_import(import).await).await;
}

async fn read(world: &World, id: ImportId) -> Option<Import> {
    world.store.import(id).await.unwrap()
}

async fn an_import_is_read_as_it_was_written(database: Database) {
    let world = World::new(database).await;
    let mut import = import_of(&world, world.user);
    add(&world, &import).await;
    assert_eq!(read(&world, import.id).await.as_ref(), Some(&import));
    assert_eq!(read(&world, world.id()).await, None);
    let elsewhere = world.id();
    for (workspace, is_found) in [(world.workspace, true), (elsewhere, false)] {
        let locked = world.write(async |tx| tx.import_for_update(workspace, import.id).await).await;
        assert_eq!(locked.is_some(), is_found);
    }

    import.status = ImportStatus::Enabled;
    import.report.warnings.push("two".to_owned());
    import.changed_at = at(7);
    world.write(async |tx| tx.update_import(&import).await).await;
    assert_eq!(read(&world, import.id).await, Some(import));
}

async fn imports_are_listed_newest_first_in_pages(database: Database) {
    let world = World::new(database).await;
    let other = world.add_person("dana").await;
    let imports: Vec<Import> = (0..3).map(|_| import_of(&world, world.user)).collect();
    for import in &imports {
        add(&world, import).await;
    }
    let others = import_of(&world, other);
    add(&world, &others).await;
    let ids = async |maker, limit, after: Option<ImportId>| {
        let page = PageRequest { limit, after: after.map(ImportId::uuid) };
        let found = world.store.imports(world.workspace, maker, page).await.unwrap();
        found.into_iter().map(|import| import.id).collect::<Vec<_>>()
    };
    let [first, second, third] = [&imports[0], &imports[1], &imports[2]].map(|import| import.id);
    assert_eq!(ids(Some(world.user), 10, None).await, [third, second, first]);
    // One more than the limit says that there is another page.
    assert_eq!(ids(Some(world.user), 1, None).await, [third, second]);
    assert_eq!(ids(Some(world.user), 10, Some(second)).await, [first]);
    assert_eq!(ids(Some(other), 10, None).await, [others.id]);
    assert_eq!(ids(None, 10, None).await.len(), 4);
    let elsewhere =
        world.store.imports(world.id(), None, PageRequest { limit: 10, after: None }).await.unwrap();
    assert_eq!(elsewhere, []);
}

async fn only_imports_in_review_are_counted(database: Database) {
    let world = World::new(database).await;
    let count = async || world.write(async |tx| tx.count_imports_in_review(world.workspace).await).await;
    assert_eq!(count().await, 0);
    let waiting = import_of(&world, world.user);
    add(&world, &waiting).await;
    let enabled = Import { status: ImportStatus::Enabled, ..import_of(&world, world.user) };
    add(&world, &enabled).await;
    assert_eq!(count().await, 1);
}

async fn the_import_of_a_deleted_app_is_discarded(database: Database) {
    let world = World::new(database).await;
    let waiting = import_of(&world, world.user);
    let enabled = Import { status: ImportStatus::Enabled, ..import_of(&world, world.user) };
    let other = Import { app: Some(world.id()), ..import_of(&world, world.user) };
    for import in [&waiting, &enabled, &other] {
        add(&world, import).await;
    }
    world.write(async |tx| tx.delete_app(world.workspace, world.app, at(5)).await).await;
    let gone = Import { app: None, automation: None, ..waiting.clone() };
    assert_eq!(
        read(&world, waiting.id).await,
        Some(Import { status: ImportStatus::Discarded, changed_at: at(5), ..gone })
    );
    assert_eq!(read(&world, enabled.id).await, Some(Import { app: None, automation: None, ..enabled }));
    assert_eq!(read(&world, other.id).await, Some(other));
}

async fn discarded_imports_expire(database: Database) {
    let world = World::new(database).await;
    let discarded = Import { status: ImportStatus::Discarded, ..import_of(&world, world.user) };
    let waiting = import_of(&world, world.user);
    for import in [&discarded, &waiting] {
        add(&world, import).await;
    }
    world.store.delete_expired(at(0) + chrono::TimeDelta::days(29)).await.unwrap();
    assert!(read(&world, discarded.id).await.is_some());
    world.store.delete_expired(at(0) + chrono::TimeDelta::days(31)).await.unwrap();
    assert!(read(&world, discarded.id).await.is_none());
    assert!(read(&world, waiting.id).await.is_some());
}
