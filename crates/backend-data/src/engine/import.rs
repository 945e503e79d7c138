//! Imports: rows from a file of any size, read in batches and written all or none.

mod written_batches;

use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    io::{self, Cursor, Read},
    sync::Arc,
    task::Poll,
};

use bytes::Bytes;

use super::{
    Engine,
    body::RowDefaults,
    file_columns::{CreatedAt, CsvHeader, IgnoredColumns, JsonKeys},
    row_id::RowIdGenerator,
};
use crate::{
    access::Access,
    catalog::{Catalog, Table},
    csv,
    error::{Error, Result},
    ident::ProjectRef,
    record_splitter::{Framing, RecordSplitter, TextRecord},
    rule::Action,
    sql::{self, InsertRows, StatementOptions},
    store::{Import, RowBatches, TableScope},
    timestamp::Micros,
    value::Value,
};
use written_batches::{RowRange, WrittenBatches};

/// Maximum number of rows of a batch.
const BATCH_ROWS: usize = 500;
/// Bytes of text after which a batch ends with fewer rows.
const BATCH_BYTES: usize = 1 << 20;

/// The text of an import. It is opened to check every row, and again for each attempt to write them.
///
/// ```
/// use backend_data::ImportSource;
///
/// let mut text = String::new();
/// bytes::Bytes::from("title\nTea\n").open()?.read_to_string(&mut text)?;
/// assert_eq!(text, "title\nTea\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait ImportSource: Send + Sync {
    /// Opens the text at its beginning. Reading it must not wait for other tasks, since a writer thread of the store
    /// may read it.
    ///
    /// # Errors
    /// If the text cannot be opened. The import then fails with [`ErrorKind::Internal`](crate::ErrorKind::Internal).
    fn open(&self) -> io::Result<Box<dyn Read + Send>>;
}

impl ImportSource for Bytes {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Cursor::new(self.clone())))
    }
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportReport {
    /// Number of rows in the file.
    pub rows: u64,
    /// Number of blank lines that were skipped: those of white space only, and in a CSV those of separators only. White
    /// space in a CSV of one column is a value.
    pub skipped_lines: u64,
    /// Columns of the file that were left out, in the order of the file: `created_at`, which the server sets, and columns
    /// of a CSV that have values and no name, by their number: `column 3`. No column of a table has such a name.
    pub ignored_columns: Vec<String>,
}

/// The format of a file of rows, in UTF-8. A row has at most 4 MiB.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileFormat {
    /// Comma-separated values (RFC 4180); the first record names the columns.
    #[default]
    Csv,
    /// One JSON array of objects.
    Json,
    /// JSON objects on lines; blank lines are skipped.
    JsonLines,
}

/// The progress of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Number of rows that were checked and fit. No row is written before all were checked.
    Checked(u64),
    /// Number of rows written within the transaction. If the import conflicts with other writes, they are undone and
    /// written again, and the number starts again.
    Written(u64),
}

/// Options of an import.
#[derive(Clone, Default)]
pub struct ImportOptions {
    /// The format of the file.
    pub format: FileFormat,
    /// True to check every row and write none.
    pub dry_run: bool,
    /// True to take `created_at` from the file. Only [`Access::Owner`] may.
    pub keep_created_at: bool,
    /// A function that is called after each batch. A writer thread of the store may call it, so it must not block.
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

impl fmt::Debug for ImportOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { format, dry_run, keep_created_at, progress: _ } = self;
        f.debug_struct("ImportOptions")
            .field("format", format)
            .field("dry_run", dry_run)
            .field("keep_created_at", keep_created_at)
            .finish_non_exhaustive()
    }
}

impl ImportOptions {
    fn report_progress(&self, progress: Progress) {
        if let Some(listener) = &self.progress {
            listener(progress);
        }
    }
}

impl Engine {
    /// Inserts the rows of a file, all or none. First every row is checked, then they are written in batches within one
    /// transaction. A `created_at` of the file is left out, unless [`ImportOptions::keep_created_at`] says otherwise. Memory is bounded by the size of a batch, not of the file.
    ///
    /// A store over SQLite makes other writes to the project wait while the rows are written.
    ///
    /// # Errors
    /// Those of [`Engine::insert`], with the line of the first row that does not fit in the details, and
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) for more than
    /// [`Limits::max_import`](crate::Limits::max_import) rows.
    pub async fn import(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        source: Arc<dyn ImportSource>,
        options: &ImportOptions,
    ) -> Result<ImportReport> {
        if options.keep_created_at && *access != Access::Owner {
            return Err(Error::forbidden("only the owner of the project may set `created_at`"));
        }
        let now = self.clock.now();
        let checked = self.validate_import(project, access, table, &*source, options, now).await?;
        if options.dry_run || checked.rows == 0 {
            return Ok(checked);
        }
        let written = Arc::new(WrittenBatches::default());
        let plan = |catalog: &Catalog, scope: &TableScope| {
            let found = catalog.get_table(table)?;
            // The beginning of the file names the columns.
            let rows = RowBatchReader::open(found, &*source, options, &self.ids, now)?;
            let changes = InsertRows {
                columns: found.columns.iter().collect(),
                given: rows.given_columns(),
                rows: Vec::new(),
            };
            let minimal = StatementOptions { minimal: true, ..StatementOptions::default() };
            let write = sql::insert(&self.target(scope, catalog, found, access), changes, &minimal)?;
            let (found, source, ids) = (found.clone(), Arc::clone(&source), Arc::clone(&self.ids));
            let (options, written) = (options.clone(), Arc::clone(&written));
            let batches = move || -> Result<RowBatches> {
                let rows = RowBatchReader::open(&found, &*source, &options, &ids, now)?;
                written.restart();
                let (written, options) = (Arc::clone(&written), options.clone());
                Ok(Box::new(rows.map(move |batch| {
                    let batch = batch?;
                    // The store asks for a batch after it wrote the one before.
                    let before = written.start(batch.range, batch.rows.len());
                    options.report_progress(Progress::Written(before));
                    Ok(batch.rows)
                })))
            };
            Ok(Import { write, batches: Box::new(batches), outbox: Vec::new() })
        };
        let done = self.run_on_catalog(project, plan, |import| self.store.import(project, import)).await;
        let rows = done.map_err(|error| {
            let is_of_a_row = matches!(error.code(), "row_exists" | "value_exists" | "invalid_value");
            match written.last() {
                // The details of an error of the file have its line.
                Some(range) if is_of_a_row && error.details().is_none() => {
                    error.with_details(format!("{range} No row was inserted."))
                }
                _ => error,
            }
        })?;
        self.notify_written(project, table, rows);
        options.report_progress(Progress::Written(rows));
        Ok(ImportReport { rows, ..checked })
    }

    /// Checks every row.
    async fn validate_import(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        source: &dyn ImportSource,
        options: &ImportOptions,
        now: Micros,
    ) -> Result<ImportReport> {
        let scope = self.store.table_scope(project);
        let catalog = self.current_catalog(project).await?;
        let table = catalog.get_table(table)?;
        sql::authorize(&self.target(&scope, &catalog, table, access), Action::Insert)?;
        let mut checked = 0;
        let mut rows = RowBatchReader::open(table, source, options, &self.ids, now)?;
        for batch in rows.by_ref() {
            checked += batch?.rows.len() as u64;
            if checked > self.limits.max_import as u64 {
                return Err(Error::invalid_body(format!("more than {} rows", self.limits.max_import)));
            }
            options.report_progress(Progress::Checked(checked));
            yield_now().await;
        }
        Ok(ImportReport {
            rows: checked,
            skipped_lines: rows.records.skipped_lines(),
            ignored_columns: rows.ignored.names(),
        })
    }
}

/// Yields to the executor once: checking a large file awaits nothing else.
async fn yield_now() {
    let mut waited = false;
    poll_fn(|context| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Rows of a file that are written together.
struct RowBatch {
    rows: Vec<Vec<Value>>,
    range: RowRange,
}

/// The rows of a file, in batches.
struct RowBatchReader {
    records: RecordSplitter,
    parser: RowParser,
    table: Table,
    ids: Arc<RowIdGenerator>,
    now: Micros,
    /// Columns that were left out of the rows so far.
    ignored: IgnoredColumns,
    has_failed: bool,
}

enum RowParser {
    Csv(Option<CsvHeader>),
    /// The keys of the first object, and that object until it is read as a row.
    Json(Option<JsonKeys>, VecDeque<TextRecord>),
}

impl RowBatchReader {
    fn open(
        table: &Table,
        source: &dyn ImportSource,
        options: &ImportOptions,
        ids: &Arc<RowIdGenerator>,
        now: Micros,
    ) -> Result<Self> {
        let framing = match options.format {
            FileFormat::Csv => Framing::CsvRecords,
            FileFormat::Json => Framing::ArrayElements,
            FileFormat::JsonLines => Framing::Lines,
        };
        let mut records = RecordSplitter::new(source.open().map_err(Error::unreadable_source)?, framing);
        let first = records.next()?;
        let created_at = if options.keep_created_at { CreatedAt::Keep } else { CreatedAt::Ignore };
        let mut ignored = IgnoredColumns::default();
        let parser = match (options.format, first) {
            (FileFormat::Csv, None) => {
                return Err(Error::invalid_body("the first line of the CSV must name the columns"));
            }
            (FileFormat::Csv, Some(first)) => {
                let names =
                    parse_csv_record(&first, true).map_err(|error| error.in_position(first.position))?;
                let header = CsvHeader::new(table, names, None, created_at)
                    .map_err(|error| error.in_position(first.position))?;
                records.set_white_space(header.white_space());
                ignored = header.ignored_columns();
                RowParser::Csv(Some(header))
            }
            (_, None) => RowParser::Json(None, VecDeque::new()),
            (_, Some(first)) => {
                let keys = JsonKeys::new(table, &first.text, created_at)
                    .map_err(|error| error.in_position(first.position))?;
                RowParser::Json(Some(keys), VecDeque::from([first]))
            }
        };
        let (table, ids) = (table.clone(), Arc::clone(ids));
        Ok(Self { records, parser, table, ids, now, ignored, has_failed: false })
    }

    fn given_columns(&self) -> Vec<&str> {
        match &self.parser {
            RowParser::Csv(header) => header.as_ref().map(|header| header.given_columns(&self.table)),
            RowParser::Json(keys, _) => keys.as_ref().map(|keys| keys.given_columns(&self.table)),
        }
        .unwrap_or_default()
    }

    fn read_batch(&mut self) -> Result<Option<RowBatch>> {
        let mut texts = Vec::new();
        let mut bytes = 0;
        while texts.len() < BATCH_ROWS && bytes < BATCH_BYTES {
            let ahead = match &mut self.parser {
                RowParser::Json(_, ahead) => ahead.pop_front(),
                RowParser::Csv(_) => None,
            };
            let record = match ahead {
                Some(record) => Some(record),
                None => self.records.next()?,
            };
            let Some(record) = record else { break };
            bytes += record.text.len();
            texts.push(record);
        }
        let (Some(first), Some(last)) = (texts.first(), texts.last()) else { return Ok(None) };
        let range = RowRange { first: first.position, last: last.position };
        let fill = RowDefaults::new(&self.table, &self.ids, self.now)?;
        let rows = match &self.parser {
            RowParser::Csv(None) | RowParser::Json(None, _) => Vec::new(),
            RowParser::Json(Some(keys), _) => keys.values(&self.table, &texts, &fill, &mut self.ignored)?,
            RowParser::Csv(Some(header)) => texts
                .iter()
                .map(|text| {
                    let values = parse_csv_record(text, false)
                        .and_then(|record| header.values(&self.table, &record, &fill, &mut self.ignored));
                    values.map_err(|error| error.in_position(text.position))
                })
                .collect::<Result<_>>()?,
        };
        Ok(Some(RowBatch { rows, range }))
    }
}

impl Iterator for RowBatchReader {
    type Item = Result<RowBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let batch = self.read_batch();
        self.has_failed = batch.is_err();
        batch.transpose()
    }
}

/// Parses a text that has one record, which names the columns if it is the header.
fn parse_csv_record(record: &TextRecord, is_header: bool) -> Result<Vec<Option<String>>> {
    let not_utf8 = |_| Error::invalid_body("the body must be CSV in UTF-8");
    let text = std::str::from_utf8(&record.text).map_err(not_utf8)?;
    let mut records = csv::RecordReader::at_line(text, record.position.line);
    if is_header {
        records = records.with_header();
    }
    // The splitter skips blank records.
    let blank = || Error::internal("a blank record of the CSV was read as a row");
    let record = records.next().ok_or_else(blank)??;
    Ok(record.fields)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Random, engine::file_columns};

    struct Zeros;

    impl Random for Zeros {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(0);
        }
    }

    fn table() -> Table {
        serde_json::from_str(
            r#"{"name":"notes","publicRead":false,"rules":[],"rowCount":null,"createdAt":"","columns":[
                {"name":"id","type":"text","nullable":false,"system":true},
                {"name":"created_at","type":"timestamp","nullable":false,"system":true},
                {"name":"title","type":"text","nullable":true,"system":false},
                {"name":"qty","type":"integer","nullable":true,"system":false}]}"#,
        )
        .unwrap()
    }

    /// Reads a file and returns its rows as text, a row a line, and the columns that were left out.
    fn read(text: &str, format: FileFormat) -> Result<(String, Vec<String>)> {
        let options = ImportOptions { format, ..ImportOptions::default() };
        let ids = Arc::new(RowIdGenerator::new(Arc::new(Zeros)));
        let source = Bytes::from(text.to_owned());
        let mut reader = RowBatchReader::open(&table(), &source, &options, &ids, Micros::EPOCH)?;
        let mut rows = Vec::new();
        for batch in reader.by_ref() {
            rows.extend(batch?.rows);
        }
        Ok((shown(&rows), reader.ignored.names()))
    }

    /// Reads the body of an insert.
    fn read_body(text: &str) -> Result<String> {
        let (table, ids) = (table(), RowIdGenerator::new(Arc::new(Zeros)));
        let fill = RowDefaults::new(&table, &ids, Micros::EPOCH)?;
        Ok(shown(&file_columns::parse_insert_csv(&table, text.as_bytes(), None, 500, &fill)?.rows))
    }

    fn shown(rows: &[Vec<Value>]) -> String {
        let field = |value: &Value| match value {
            Value::Text(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            _ => String::new(),
        };
        rows.iter().map(|row| format!("{}={}\n", field(&row[2]), field(&row[3]))).collect()
    }

    /// Reads a CSV as a file and as the body of an insert, which must not differ.
    fn read_csv(text: &str) -> std::result::Result<String, String> {
        let outcome = |read: Result<String>| {
            read.map_err(|error| format!("{error}: {}", error.details().unwrap_or_default()))
        };
        let file = outcome(read(text, FileFormat::Csv).map(|(rows, _)| rows));
        assert_eq!(outcome(read_body(text)), file, "{text:?}");
        file
    }

    #[test]
    fn batches_know_where_their_rows_are() {
        let ranges = |text: String, format| {
            let options = ImportOptions { format, ..ImportOptions::default() };
            let ids = Arc::new(RowIdGenerator::new(Arc::new(Zeros)));
            let source = Bytes::from(text);
            let reader = RowBatchReader::open(&table(), &source, &options, &ids, Micros::EPOCH).unwrap();
            reader.map(|batch| batch.unwrap().range.to_string()).collect::<Vec<_>>()
        };
        let object = "{\"qty\":1}";
        for (file, format, found) in [
            (
                format!("qty,title\n\n1,\"a\nb\"\n{}", "2,c\n".repeat(501)),
                FileFormat::Csv,
                &["It is among the lines 3 to 503.", "It is among the lines 504 to 505."] as &[&str],
            ),
            (
                format!("{object}\r\n\r\n").repeat(501),
                FileFormat::JsonLines,
                &["It is among the lines 1 to 999.", "In line 1001."],
            ),
            (
                format!("[{object}{}]", format!(",{object}").repeat(500)),
                FileFormat::Json,
                &["It is among the rows 1 to 500.", "In line 1, row 501."],
            ),
            ("qty\n".to_owned(), FileFormat::Csv, &[]),
        ] {
            assert_eq!(ranges(file, format), found, "{format:?}");
        }
    }

    #[test]
    fn a_row_that_is_refused_is_named_by_its_position() {
        for (file, format, details) in [
            ("qty\n1\nx\n", FileFormat::Csv, "In line 3."),
            ("{\"qty\":1}\r\n\r\n{\"qty\":\"x\"}\r\n", FileFormat::JsonLines, "In line 3."),
            (
                "{\"qty\":1}\n[]\n",
                FileFormat::JsonLines,
                "In line 2. invalid type: sequence, expected an object of column values",
            ),
            ("[{\"qty\":1}, {\"qty\":\"x\"}]", FileFormat::Json, "In line 1, row 2."),
            ("[\n  {\"qty\":1},\n  {\"qty\":}\n]", FileFormat::Json, "In line 3, row 2. expected value"),
            ("[\n\n  {\"price\":1}]", FileFormat::Json, "In line 3, row 1."),
        ] {
            let refused = read(file, format).unwrap_err();
            assert_eq!(refused.details(), Some(details), "{file:?}: {refused}");
        }
    }

    #[test]
    fn columns_that_are_left_out_of_any_row_are_named() {
        let time = "2020-01-01T00:00:00Z";
        for (file, format, ignored) in [
            ("title,qty\na,1\nb,2\n".to_owned(), FileFormat::Csv, &[] as &[&str]),
            ("title,,qty,\na,,1,\nb,\"\",2,NULL\n".to_owned(), FileFormat::Csv, &[]),
            ("title,qty,\na,1\nb,2,x\n".to_owned(), FileFormat::Csv, &["column 3"]),
            (
                format!("title,,created_at,qty,,\na,x,{time},1\nb,y,,2,,z\n"),
                FileFormat::Csv,
                &["column 2", "created_at", "column 6"],
            ),
            (
                format!("created_at,title,created_at,qty\n,a,,1\n,b,{time},2\n"),
                FileFormat::Csv,
                &["created_at"],
            ),
            (
                format!(
                    "[{{\"title\":\"a\",\"qty\":1}},{{\"qty\":2,\"created_at\":\"{time}\",\"title\":\"b\"}}]"
                ),
                FileFormat::Json,
                &["created_at"],
            ),
            (
                format!(
                    "{{\"title\":\"a\",\"qty\":1,\"created_at\":\"{time}\"}}\n{{\"qty\":2,\"title\":\"b\"}}\n"
                ),
                FileFormat::JsonLines,
                &["created_at"],
            ),
        ] {
            let (rows, found) = read(&file, format).unwrap();
            assert_eq!(rows, "a=1\nb=2\n", "{file}");
            assert_eq!(found, ignored, "{file}");
        }
        // The response to an insert cannot say so.
        let refused = read_body("title,qty,\na,1\nb,2,x\n").unwrap_err();
        assert_eq!(refused.to_string(), "column 3 of the CSV has a value and no name in the first line");
        assert_eq!(refused.details(), Some("In line 3."));
    }

    #[test]
    fn white_space_is_a_value_in_a_file_of_one_column_only() {
        for file in [
            " \ntitle,qty\na,1\n   \n\t\r\nb,2\n ",
            "title,qty,\na,1\n \nb,2\n",
            ",title,qty\n,a,1\n \n,b,2\n",
        ] {
            assert_eq!(read_csv(file).unwrap(), "a=1\nb=2\n", "{file:?}");
        }
        for file in ["title\n \n\nb\n", "title,\n \n\nb,\n"] {
            assert_eq!(read_csv(file).unwrap(), " =\nb=\n", "{file:?}");
        }
        let refusal = "a row of the CSV has 1 fields instead of 2: In line 2.";
        assert_eq!(read_csv("title,qty\n\" \"\n").unwrap_err(), refusal);
    }

    #[test]
    fn separators_behind_the_last_named_column_may_be_missing() {
        for file in ["title,qty,\na,1\nb,2,\n", "title,qty,,\na,1,,\nb,2,,,,\n", "title,qty\na,1,\nb,2\n"] {
            assert_eq!(read_csv(file).unwrap(), "a=1\nb=2\n", "{file:?}");
        }
        for (file, refusal) in [
            ("title,qty,\na,1\nb\n", "a row of the CSV has 1 fields instead of 2: In line 3."),
            ("title,,qty,\na,,1\nb,\n", "a row of the CSV has 2 fields instead of 3: In line 3."),
            ("title,qty,\na,1,,x\n", "a row of the CSV has 4 fields instead of 3: In line 2."),
        ] {
            assert_eq!(read_csv(file).unwrap_err(), refusal, "{file:?}");
        }
    }
}
