//! Imports of files: in bounded memory, all or nothing.

use std::{
    io::{self, Read},
    sync::{Arc, Mutex},
};

use backend_data::{
    Access, ColumnType, Error, FileFormat, Format, ImportOptions, ImportReport, ImportSource, NewColumn,
    NewTable, Progress, ReadOptions,
};
use bytes::Bytes;
use serde_json::Value as Json;

use crate::{contract, harness::World};

contract!(
    a_long_file_is_imported_and_counted,
    an_invalid_last_row_undoes_an_import,
    every_file_format_is_read_alike,
    blank_lines_and_unnamed_columns_are_left_out,
    rows_of_nulls_survive_a_file,
    a_dry_run_writes_nothing,
    only_owners_may_set_created_at,
);

/// A file that is generated while it is read, and is too large to keep in memory.
struct Made {
    rows: usize,
    /// The id of a row that is repeated at the end.
    again: bool,
}

struct Reading {
    made: usize,
    rows: usize,
    again: bool,
    rest: Vec<u8>,
}

impl ImportSource for Made {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let rest = b"id,title,qty\n".to_vec();
        Ok(Box::new(Reading { made: 0, rows: self.rows, again: self.again, rest }))
    }
}

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            if self.made < self.rows {
                let title = "a title of some length, again and again; ".repeat(20);
                self.rest = format!("r{:06},\"{title}\",{}\n", self.made, self.made).into_bytes();
                self.made += 1;
            } else if std::mem::take(&mut self.again) {
                self.rest = b"r000000,again,0\n".to_vec();
            }
        }
        let most = self.rest.len().min(buffer.len());
        buffer[..most].copy_from_slice(&self.rest[..most]);
        self.rest.drain(..most);
        Ok(most)
    }
}

async fn table(world: &World) {
    let columns = [("title", ColumnType::Text), ("qty", ColumnType::Integer), ("meta", ColumnType::Json)];
    let table = columns
        .into_iter()
        .fold(NewTable::new("notes"), |table, (name, kind)| table.with_column(NewColumn::new(name, kind)));
    world.table(table).await;
}

async fn import(
    world: &World,
    source: impl ImportSource + 'static,
    options: &ImportOptions,
) -> Result<u64, Error> {
    Ok(report(world, source, options).await?.rows)
}

async fn report(
    world: &World,
    source: impl ImportSource + 'static,
    options: &ImportOptions,
) -> Result<ImportReport, Error> {
    world.engine.import(&world.project, &Access::Owner, "notes", Arc::new(source), options).await
}

async fn count(world: &World) -> u64 {
    let options = ReadOptions { include_count: true, ..ReadOptions::default() };
    world.page("limit=0", &options).await.unwrap().total.unwrap()
}

async fn a_long_file_is_imported_and_counted(world: World) {
    const ROWS: usize = 12_000;
    table(&world).await;
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hearing = heard.clone();
    let progress: Arc<dyn Fn(Progress) + Send + Sync> =
        Arc::new(move |progress| hearing.lock().unwrap().push(progress));
    let options = ImportOptions { progress: Some(progress), ..ImportOptions::default() };
    // Ten megabytes, more than a request body may have.
    assert_eq!(import(&world, Made { rows: ROWS, again: false }, &options).await.unwrap(), ROWS as u64);
    assert_eq!(count(&world).await, ROWS as u64);
    let heard = heard.lock().unwrap().clone();
    let checked: Vec<u64> =
        heard.iter().filter_map(|it| if let Progress::Checked(n) = it { Some(*n) } else { None }).collect();
    let written: Vec<u64> =
        heard.iter().filter_map(|it| if let Progress::Written(n) = it { Some(*n) } else { None }).collect();
    assert!(
        checked.len() >= ROWS / 500 && written.len() >= ROWS / 500,
        "progress is reported for each batch"
    );
    assert!(checked.is_sorted() && written.is_sorted());
    assert_eq!((checked.last(), written.last()), (Some(&(ROWS as u64)), Some(&(ROWS as u64))));
    assert!(
        matches!(heard[checked.len() - 1], Progress::Checked(_)),
        "nothing is written before all is checked"
    );
}

async fn an_invalid_last_row_undoes_an_import(world: World) {
    table(&world).await;
    let refused =
        import(&world, Made { rows: 2_000, again: true }, &ImportOptions::default()).await.unwrap_err();
    assert_eq!(refused.code(), "row_exists");
    assert_eq!(refused.details(), Some("In line 2002. No row was inserted."));
    assert_eq!(count(&world).await, 0);
    let mut file = String::from("title,qty\n");
    (0..1_500).for_each(|n| file.push_str(&format!("t,{n}\n")));
    file.push_str("t,many\n");
    let refused = import(&world, Bytes::from(file), &ImportOptions::default()).await.unwrap_err();
    assert_eq!((refused.code(), refused.details()), ("invalid_value", Some("In line 1502.")));
    assert_eq!(count(&world).await, 0);
    // The writer still works.
    world.insert("notes", r#"{"id":"a"}"#).await.unwrap();
}

async fn every_file_format_is_read_alike(world: World) {
    table(&world).await;
    let files = [
        (FileFormat::Csv, "\u{feff}id,title,qty,meta\r\na1,\"x,\"\"\ny\",1,\"{\"\"k\"\":[1]}\"\r\na2,,,\r\n"),
        (
            FileFormat::Json,
            "\u{feff}[{\"id\":\"b1\",\"title\":\"x,\\\"\\ny\",\"qty\":1,\"meta\":{\"k\":[1]}}, {\"meta\":null,\"qty\":null,\"title\":null,\"id\":\"b2\"} ]",
        ),
        (
            FileFormat::JsonLines,
            "\u{feff}{\"id\":\"c1\",\"title\":\"x,\\\"\\ny\",\"qty\":1,\"meta\":{\"k\":[1]}}\n\n{\"id\":\"c2\",\"title\":null,\"qty\":null,\"meta\":null}",
        ),
    ];
    for (form, file) in files {
        let options = ImportOptions { format: form, ..ImportOptions::default() };
        assert_eq!(import(&world, Bytes::from(file), &options).await.unwrap(), 2, "{form:?}");
    }
    let rows: Vec<Json> =
        serde_json::from_str(&world.list("select=title,qty,meta&order=id").await.unwrap()).unwrap();
    assert_eq!(rows.len(), 6);
    assert_eq!((&rows[0], &rows[1]), (&rows[2], &rows[3]));
    assert_eq!((&rows[0], &rows[1]), (&rows[4], &rows[5]));
    assert_eq!(rows[0]["meta"], serde_json::json!({"k": [1]}));
    // A file without rows imports nothing, and an incomplete file is an error.
    for (form, file) in [(FileFormat::Json, "[]"), (FileFormat::JsonLines, ""), (FileFormat::Csv, "title\n")]
    {
        let options = ImportOptions { format: form, ..ImportOptions::default() };
        assert_eq!(import(&world, Bytes::from(file), &options).await.unwrap(), 0, "{form:?}");
    }
    for (form, file) in [
        (FileFormat::Json, "[{\"title\":\"x\"}"),
        (FileFormat::Json, "[{\"title\":\"x\"},]"),
        (FileFormat::Json, "[{\"title\":\"x\"},{\"qty\":1}]"),
        (FileFormat::Json, "{\"title\":\"x\"}"),
        (FileFormat::JsonLines, "{\"title\":\"x\"}\n[]"),
        (FileFormat::Csv, ""),
        (FileFormat::Csv, "title\n\"x"),
        (FileFormat::Csv, "title\nx,y"),
        (FileFormat::Csv, "nope\nx"),
    ] {
        let options = ImportOptions { format: form, ..ImportOptions::default() };
        let refused = import(&world, Bytes::from(file), &options).await.unwrap_err();
        assert_eq!(refused.kind(), backend_data::ErrorKind::Invalid, "{file}: {refused}");
    }
    assert_eq!(count(&world).await, 6);
}

async fn blank_lines_and_unnamed_columns_are_left_out(world: World) {
    table(&world).await;
    let csv = ImportOptions::default();
    let read = async |file: &'static str| report(&world, Bytes::from(file), &csv).await;
    let found = read("\u{feff}title,qty,\r\na,1\r\n\r\n,,\r\nb,2,\"\"\r\n\r\n").await.unwrap();
    assert_eq!((found.rows, found.skipped_lines, found.ignored_columns), (2, 3, vec![]));
    let found = read("title,created_at\n\u{feff}Aru,2020-01-01T00:00:00Z\n").await.unwrap();
    assert_eq!(
        (found.rows, found.skipped_lines, found.ignored_columns),
        (1, 0, vec!["created_at".to_owned()])
    );
    let titles = world.list("select=title&order=title").await.unwrap();
    assert_eq!(titles, "[{\"title\":\"a\"},{\"title\":\"b\"},{\"title\":\"\u{feff}Aru\"}]");
    let found = read("title,,qty\n\nc,,1\nd,x,2\n").await.unwrap();
    assert_eq!((found.rows, found.skipped_lines, found.ignored_columns), (2, 1, vec!["column 2".to_owned()]));
    // Quoted empty text is a value, also where it stands alone.
    assert_eq!(read("title\n\"\"\n\n").await.unwrap().rows, 1);
    for (file, details, message) in [
        ("title,qty\na,1\n\nb\n", "In line 4.", "1 fields instead of 2"),
        ("title,qty\n\"a\nx\",1\nb,2,3\n", "In line 4.", "3 fields instead of 2"),
        ("title,qty\na,1\n\"b,2\n", "In line 3.", "a quote is not closed"),
        ("title;qty\na;1\n", "In line 1. Separate them by commas.", "separated by `;`"),
        ("title\tqty\na\t1\n", "In line 1. Separate them by commas.", "separated by tabs"),
        ("\"title\";\"qty\"\n\"a\";1\n", "In line 1. Separate them by commas.", "separated by `;`"),
    ] {
        let refused = read(file).await.unwrap_err();
        assert!(refused.to_string().contains(message), "{file:?}: {refused}");
        assert_eq!(refused.details(), Some(details), "{file:?}");
    }
    // A line of separators only is no header either.
    let refused = read(",\na,1\n").await.unwrap_err();
    assert!(refused.to_string().contains("has no column \"a\""), "{refused}");
    let lines = ImportOptions { format: FileFormat::JsonLines, ..ImportOptions::default() };
    let json = ImportOptions { format: FileFormat::Json, ..ImportOptions::default() };
    let refused = report(&world, Bytes::from("{\"qty\":1}\n\n{\"qty\":\"x\"}\n"), &lines).await.unwrap_err();
    assert_eq!(refused.details(), Some("In line 3."));
    let refused = report(&world, Bytes::from("[{\"qty\":1},{\"qty\":\"x\"}]"), &json).await.unwrap_err();
    assert_eq!(refused.details(), Some("In line 1, row 2."));
    let rows = "[{\"id\":\"e\",\"qty\":1},{\"id\":\"e\",\"qty\":2}]";
    let refused = report(&world, Bytes::from(rows), &json).await.unwrap_err();
    assert_eq!(refused.details(), Some("It is among the rows 1 to 2. No row was inserted."));
    let file = "[{\"qty\":7},{\"qty\":8,\"created_at\":\"2020-01-01T00:00:00Z\"}]";
    assert_eq!(report(&world, Bytes::from(file), &json).await.unwrap().ignored_columns, ["created_at"]);
}

/// An export is imported again as the same rows, rows of nulls included.
async fn rows_of_nulls_survive_a_file(world: World) {
    table(&world).await;
    world
        .insert("notes", r#"[{"id":"a","title":null},{"id":"b","title":"x"},{"id":"c","title":null}]"#)
        .await
        .unwrap();
    let csv = ReadOptions { format: Format::Csv, ..ReadOptions::default() };
    for columns in ["title", "title,qty", "qty,title,meta"] {
        let page = world.page(&format!("select={columns}&order=id"), &csv).await.unwrap();
        let options = ImportOptions { dry_run: true, ..ImportOptions::default() };
        let found = report(&world, page.body, &options).await.unwrap();
        assert_eq!((found.rows, found.skipped_lines), (3, 0), "{columns}");
    }
}

async fn a_dry_run_writes_nothing(world: World) {
    table(&world).await;
    let options = ImportOptions { dry_run: true, ..ImportOptions::default() };
    assert_eq!(import(&world, Made { rows: 700, again: false }, &options).await.unwrap(), 700);
    assert_eq!(count(&world).await, 0);
}

async fn only_owners_may_set_created_at(world: World) {
    table(&world).await;
    let file = || Arc::new(Bytes::from("id,created_at\na,2020-01-02T03:04:05Z\n"));
    let options = ImportOptions { keep_created_at: true, ..ImportOptions::default() };
    let service = Access::service([backend_data::Scope::RowsWrite]);
    let refused = world.engine.import(&world.project, &service, "notes", file(), &options).await.unwrap_err();
    assert_eq!(refused.kind(), backend_data::ErrorKind::Forbidden);
    world.engine.import(&world.project, &Access::Owner, "notes", file(), &options).await.unwrap();
    let row = world.list("select=created_at").await.unwrap();
    assert_eq!(row, r#"[{"created_at":"2020-01-02T03:04:05.000000Z"}]"#);
}
