//! Rows from a file of any size, read in portions and written all or none.

use std::{
    collections::VecDeque,
    fmt,
    future::poll_fn,
    io::{self, Cursor, Read},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    task::Poll,
};

use bytes::Bytes;

use super::{
    Engine,
    body::{Fill, Header, Keys},
    ids::RowIds,
};
use crate::{
    access::Access,
    catalog::{Catalog, Table},
    csv,
    error::{Error, Result},
    ident::ProjectRef,
    pieces::{Cut, Pieces},
    rule::Action,
    sql::{self, Changes, Options},
    store::{Import, Place, Portions},
    timestamp::Micros,
    value::Value,
};

/// How many rows are written at once.
const PORTION: usize = 500;
/// How many bytes of text a portion may have before it is written with fewer rows.
const PORTION_BYTES: usize = 1 << 20;

/// The source of an import's text. It is opened to check every row, and again each time they are written.
///
/// ```
/// use backend_data::Source;
///
/// let mut text = String::new();
/// bytes::Bytes::from("title\nTea\n").open()?.read_to_string(&mut text)?;
/// assert_eq!(text, "title\nTea\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait Source: Send + Sync {
    /// The text from its beginning. Reading should not wait for anybody: a store's writer may be what reads.
    ///
    /// # Errors
    /// When there is none.
    fn open(&self) -> io::Result<Box<dyn Read + Send>>;
}

impl Source for Bytes {
    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Cursor::new(self.clone())))
    }
}

/// The form of a file of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileForm {
    /// Comma-separated values; the first record names the columns.
    #[default]
    Csv,
    /// One JSON array of objects.
    Json,
    /// A JSON object on each line.
    Lines,
}

/// How far an import is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many rows fit their columns; none is written before all do.
    Checked(u64),
    /// So many rows are written; none of them stays unless all do. Where other writes were in the way, they are undone and
    /// written again, and the number begins anew.
    Written(u64),
}

/// How a file of rows is imported.
#[derive(Clone, Default)]
pub struct ImportOptions {
    /// The form of the file.
    pub form: FileForm,
    /// Check every row and write none.
    pub check: bool,
    /// Take `created_at` from the file. Only the owner may.
    pub restore: bool,
    /// Called after each portion.
    pub progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

impl fmt::Debug for ImportOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { form, check, restore, progress: _ } = self;
        let mut shown = f.debug_struct("ImportOptions");
        shown.field("form", form).field("check", check).field("restore", restore).finish_non_exhaustive()
    }
}

impl ImportOptions {
    fn tell(&self, progress: Progress) {
        if let Some(listener) = &self.progress {
            listener(progress);
        }
    }
}

impl Engine {
    /// Adds the rows of a file, all or none, in bounded memory: first every row is checked, then they are written in
    /// portions within one transaction. The answer is how many there are.
    ///
    /// While they are written nobody else writes to the project where the store is SQLite's.
    ///
    /// # Errors
    /// As [`Engine::insert`], naming the first row that does not fit.
    pub async fn import(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        source: Arc<dyn Source>,
        options: &ImportOptions,
    ) -> Result<u64> {
        if options.restore && *access != Access::Owner {
            return Err(Error::forbidden("only the owner of the project may say when rows were made"));
        }
        let now = self.clock.now();
        let checked = self.check(project, access, table, &*source, options, now).await?;
        if options.check || checked == 0 {
            return Ok(checked);
        }
        // How many rows were handed over, and how many of them last.
        let handed = Arc::new((AtomicU64::new(0), AtomicU64::new(0)));
        let plan = |catalog: &Catalog, place: &Place| {
            let found = catalog.require(table)?;
            // The beginning of the file says which columns are given.
            let rows = Rows::open(found, &*source, options, &self.ids, now)?;
            let changes =
                Changes { columns: found.columns.iter().collect(), given: rows.given(), rows: Vec::new() };
            let minimal = Options { minimal: true, ..Options::default() };
            let write = sql::insert(&self.target(place, catalog, found, access), changes, &minimal)?;
            let (found, source, ids) = (found.clone(), Arc::clone(&source), Arc::clone(&self.ids));
            let (options, handed) = (options.clone(), Arc::clone(&handed));
            let portions = move || -> Result<Portions> {
                let rows = Rows::open(&found, &*source, &options, &ids, now)?;
                handed.0.store(0, Ordering::Relaxed);
                let (handed, options) = (Arc::clone(&handed), options.clone());
                Ok(Box::new(rows.inspect(move |portion| {
                    let rows = portion.as_ref().map_or(0, Vec::len) as u64;
                    // The portion before this one is written.
                    let before = handed.0.fetch_add(rows, Ordering::Relaxed);
                    handed.1.store(rows, Ordering::Relaxed);
                    options.tell(Progress::Written(before));
                })))
            };
            Ok(Import { write, portions: Box::new(portions), outbox: Vec::new() })
        };
        let done = self.run_all(project, plan, |import| self.store.import(project, import)).await;
        let rows = done.map_err(|error| {
            let (upto, last) = (handed.0.load(Ordering::Relaxed), handed.1.load(Ordering::Relaxed));
            if !matches!(error.code(), "row_exists" | "value_exists") || last == 0 {
                return error;
            }
            let (from, upto) = (upto.saturating_sub(last), upto.saturating_sub(1));
            error.with_details(format!("It is among the rows {from} to {upto}. None was added."))
        })?;
        options.tell(Progress::Written(rows));
        Ok(rows)
    }

    /// Reads every row once.
    async fn check(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        source: &dyn Source,
        options: &ImportOptions,
        now: Micros,
    ) -> Result<u64> {
        let place = self.store.place(project);
        let catalog = self.current(project).await?;
        let table = catalog.require(table)?;
        sql::admit(&self.target(&place, &catalog, table, access), Action::Insert)?;
        let mut checked = 0;
        for portion in Rows::open(table, source, options, &self.ids, now)? {
            checked += portion?.len() as u64;
            if checked > self.limits.max_import as u64 {
                return Err(Error::body(format!("more than {} rows", self.limits.max_import)));
            }
            options.tell(Progress::Checked(checked));
            breathe().await;
        }
        Ok(checked)
    }
}

/// Lets others go on: reading a large file is work without a wait.
async fn breathe() {
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

/// The rows of a file, in portions.
struct Rows {
    pieces: Pieces,
    shape: Shape,
    table: Table,
    ids: Arc<RowIds>,
    now: Micros,
    before: u64,
    failed: bool,
}

enum Shape {
    Csv(Option<Header>),
    /// The keys of the first object, which is read again as a row.
    Json(Option<Keys>, VecDeque<Vec<u8>>),
}

impl Rows {
    fn open(
        table: &Table,
        source: &dyn Source,
        options: &ImportOptions,
        ids: &Arc<RowIds>,
        now: Micros,
    ) -> Result<Self> {
        let cut = match options.form {
            FileForm::Csv => Cut::Records,
            FileForm::Json => Cut::Members,
            FileForm::Lines => Cut::Lines,
        };
        let mut pieces = Pieces::new(source.open().map_err(Error::unreadable)?, cut);
        let first = pieces.next()?;
        let shape = match (options.form, first) {
            (FileForm::Csv, None) => {
                return Err(Error::body("the CSV needs a first line with the columns"));
            }
            (FileForm::Csv, Some(first)) => {
                Shape::Csv(Some(Header::new(table, record(&first)?, None, options.restore)?))
            }
            (_, None) => Shape::Json(None, VecDeque::new()),
            (_, Some(first)) => {
                let keys = Keys::new(table, &first, options.restore).map_err(|error| error.in_row(0))?;
                Shape::Json(Some(keys), VecDeque::from([first]))
            }
        };
        let (table, ids) = (table.clone(), Arc::clone(ids));
        Ok(Self { pieces, shape, table, ids, now, before: 0, failed: false })
    }

    fn given(&self) -> Vec<&str> {
        match &self.shape {
            Shape::Csv(header) => header.as_ref().map(|header| header.given(&self.table)),
            Shape::Json(keys, _) => keys.as_ref().map(|keys| keys.given(&self.table)),
        }
        .unwrap_or_default()
    }

    fn portion(&mut self) -> Result<Vec<Vec<Value>>> {
        let mut texts = Vec::new();
        let mut bytes = 0;
        while texts.len() < PORTION && bytes < PORTION_BYTES {
            let ahead = match &mut self.shape {
                Shape::Json(_, ahead) => ahead.pop_front(),
                Shape::Csv(_) => None,
            };
            let piece = match ahead {
                Some(piece) => Some(piece),
                None => self.pieces.next()?,
            };
            let Some(piece) = piece else { break };
            bytes += piece.len();
            texts.push(piece);
        }
        let fill = Fill::new(&self.table, &self.ids, self.now)?;
        let rows = match &self.shape {
            Shape::Csv(None) | Shape::Json(None, _) => Vec::new(),
            Shape::Json(Some(keys), _) => keys.values(&self.table, &texts, self.before, &fill)?,
            Shape::Csv(Some(header)) => (self.before..)
                .zip(&texts)
                .map(|(index, text)| {
                    let values = record(text).and_then(|record| header.values(&self.table, &record, &fill));
                    values.map_err(|error| error.in_row(index))
                })
                .collect::<Result<_>>()?,
        };
        self.before += rows.len() as u64;
        Ok(rows)
    }
}

impl Iterator for Rows {
    type Item = Result<Vec<Vec<Value>>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        match self.portion() {
            Ok(rows) if rows.is_empty() => None,
            Ok(rows) => Some(Ok(rows)),
            Err(error) => {
                self.failed = true;
                Some(Err(error))
            }
        }
    }
}

/// The one record of a piece.
fn record(piece: &[u8]) -> Result<Vec<Option<String>>> {
    let text = std::str::from_utf8(piece).map_err(|_| Error::body("the body must be CSV in UTF-8"))?;
    let mut records = csv::Records::new(text);
    let record = records.next().ok_or_else(|| Error::body("a record of the CSV is empty"))??;
    Ok(record)
}
