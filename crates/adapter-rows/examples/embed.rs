//! A service that embeds the engine over a SQLite file: `cargo run -p adapter-rows --example embed`.
//!
//! It creates a project, a table and rules, inserts rows as the owner, and lets visitors and signed-in people query
//! them.

use std::{collections::BTreeMap, sync::Arc};

use adapter_rows::{SqliteOptions, SqliteRows};
use backend_data::{
    Access, ColumnType, Engine, NewColumn, NewTable, Page, Person, ProjectRef, ReadOptions, Rule,
    WriteOptions,
};

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example shows what it did")]
async fn main() -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let store = SqliteRows::open(SqliteOptions::new(directory.path()))?;
    let engine = Engine::with_system(Arc::new(store));

    // A project is a file. Its tables are private until a rule allows something.
    let project = ProjectRef::new("shop".parse()?, 0);
    engine.create_project(&project).await?;
    let notes = NewTable::new("notes")
        .with_column(NewColumn::new("title", ColumnType::Text).required())
        .with_column(NewColumn::new("stars", ColumnType::Integer))
        .with_column(NewColumn::new("author", ColumnType::Text));
    engine.create_table(&project, &Access::Owner, notes).await?;
    let rules = vec![
        Rule::from_sentence("praise", "Anyone may read id, title, stars of rows where stars is at least 4.")?,
        Rule::from_sentence(
            "own",
            "Signed-in people may read and update rows where author is the signed-in person.",
        )?,
    ];
    engine.set_rules(&project, &Access::Owner, "notes", rules).await?;

    let rows = br#"[{"title":"Tea","stars":5,"author":"ann"},{"title":"Rain","stars":2,"author":"ann"}]"#;
    engine.insert(&project, &Access::Owner, "notes", "", rows, &WriteOptions::default()).await?;

    // Each caller sees the result of one statement, which is compiled from the query and the rules.
    let query = "select=title,stars&order=stars.desc";
    let list =
        async |access: &Access| engine.list(&project, access, "notes", query, &ReadOptions::default()).await;
    let ann = Access::Person(Person { subject: "ann".into(), roles: Vec::new(), claims: BTreeMap::new() });
    let (visitor, ann) = (text(&list(&Access::Visitor).await?), text(&list(&ann).await?));
    println!("a visitor sees {visitor}");
    println!("ann sees       {ann}");
    assert_eq!(visitor, r#"[{"title":"Tea","stars":5}]"#);
    assert_eq!(ann, r#"[{"title":"Tea","stars":5},{"title":"Rain","stars":2}]"#);
    Ok(())
}

fn text(page: &Page) -> String {
    String::from_utf8_lossy(&page.body).into_owned()
}
