//! A table of notes in a SQLite file, without a server: `cargo run -p adapter-rows --example embed`.

use std::sync::Arc;

use adapter_rows::{SqliteOptions, SqliteRows};
use backend_data::{Access, ColumnType, Engine, NewColumn, NewTable, ProjectRef, ReadOptions, WriteOptions};

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example shows what it did")]
async fn main() -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    let store = SqliteRows::open(SqliteOptions::new(directory.path()))?;
    let engine = Engine::with_system(Arc::new(store));

    let project = ProjectRef::new("demo".parse()?, 0);
    engine.create_project(&project).await?;

    let notes = NewTable::new("notes")
        .with(NewColumn::new("title", ColumnType::Text).required())
        .with(NewColumn::new("stars", ColumnType::Integer))
        .public();
    engine.create_table(&project, &Access::Owner, notes).await?;

    let rows = br#"[{"title":"Tea","stars":5},{"title":"Rain","stars":2}]"#;
    engine.insert(&project, &Access::Owner, "notes", "", rows, &WriteOptions::default()).await?;

    // A visitor may read the table because it is public.
    let query = "select=title&stars=gte.3&order=stars.desc";
    let page = engine.list(&project, &Access::Visitor, "notes", query, &ReadOptions::default()).await?;
    println!("{}", String::from_utf8_lossy(&page.body));
    Ok(())
}
