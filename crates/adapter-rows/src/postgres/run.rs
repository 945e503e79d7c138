//! Statements, wrapped so that they also say whether the catalog is still the one they were made for.

use std::{cmp::Ordering, collections::HashMap, sync::Arc};

use backend_data::{
    Catalog, ProjectRef, RowWriter, StoreError, Value,
    store::{Answer, Direction, Estimate, Format, Import, Place, Read, Write},
};
use futures::TryStreamExt;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Postgres, Row, Transaction, postgres::PgRow};

use super::{
    answer::write_row,
    bind, lookup, outbox,
    pool::Pool,
    schema,
    stored::{self, Stored, Verdict},
};
use crate::sent;

/// Where statements of one project run.
pub(super) struct Runner<'s> {
    pub(super) pool: &'s Pool,
    pub(super) place: &'s Place,
    pub(super) project: &'s ProjectRef,
    /// What sets the time limit of a transaction, where the session does not have it.
    pub(super) limit: Option<&'s Arc<str>>,
    pub(super) stored: &'s Stored,
}

impl Runner<'_> {
    /// Whether what is prepared on a connection is there the next time. Behind a pooler that is another server's session.
    fn keeps(&self) -> bool {
        self.limit.is_none()
    }

    async fn begin<'c>(
        &self,
        connection: &'c mut PgConnection,
    ) -> Result<Transaction<'c, Postgres>, StoreError> {
        let mut transaction = connection.begin().await.map_err(failed)?;
        if let Some(limit) = self.limit {
            let set = sqlx::raw_sql(AssertSqlSafe(&**limit)).execute(&mut *transaction).await;
            set.map_err(failed)?;
        }
        Ok(transaction)
    }

    pub(super) async fn read(&self, read: &Read) -> Result<Answer, StoreError> {
        self.reading(async |connection| rows(connection, self.place, read, self.keeps()).await).await
    }

    /// What the tables of a project are; nothing where it has none.
    pub(super) async fn catalog(&self, project: &ProjectRef) -> Result<Option<Catalog>, StoreError> {
        self.reading(async |connection| schema::catalog(connection, project, self.keeps()).await).await
    }

    /// Reads rows by their ids in one statement. The reads are of one [`Shape`](super::together::Shape).
    pub(super) async fn look_up(
        &self,
        reads: &[&Read],
    ) -> Result<Vec<Result<Answer, StoreError>>, StoreError> {
        self.reading(async |connection| lookup::rows(connection, self.place, reads, self.keeps()).await).await
    }

    /// Lends a connection on which statements have their time limit.
    async fn reading<T>(
        &self,
        read: impl AsyncFnOnce(&mut PgConnection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut lent = self.pool.take(Some(&self.project.id)).await?;
        let done = async {
            let mut limited = self.limited(&mut lent.connection).await?;
            let answer = read(limited.connection()).await?;
            limited.end().await?;
            Ok(answer)
        };
        // Reads lock nothing: what they wait for is a change of the schema, and they have no time left.
        let done = done
            .await
            .map_err(|error: StoreError| if error.is_contended() { StoreError::Timeout } else { error });
        lent.settle(done).await
    }

    /// A connection on which statements have their time limit.
    async fn limited<'c>(&self, connection: &'c mut PgConnection) -> Result<Limited<'c>, StoreError> {
        Ok(match self.limit {
            None => Limited::Session(connection),
            Some(_) => Limited::Transaction(self.begin(connection).await?),
        })
    }

    pub(super) async fn write(&self, write: &Write) -> Result<Answer, StoreError> {
        let mut lent = self.pool.take(Some(&self.project.id)).await?;
        let done = async {
            self.fits(&mut lent.connection, write).await?;
            let answer = if !write.may_undo() && self.limit.is_none() {
                run(&mut lent.connection, self.place, write, self.keeps()).await?
            } else {
                self.write_undoing(&mut lent.connection, write).await?
            };
            self.stored.written(self.project, write, &answer);
            Ok(answer)
        };
        let done = done.await;
        lent.settle(done).await
    }

    /// Refuses a write of a project whose rows take as many bytes as they may.
    async fn fits(&self, connection: &mut PgConnection, write: &Write) -> Result<(), StoreError> {
        match write.max_stored {
            Some(_) => self.has_room(connection, write.max_stored, sent::bytes(write)).await,
            None => Ok(()),
        }
    }

    /// Refuses so many bytes more where a project has no room for them. Asks the database, on this connection, where nobody
    /// knows.
    pub(super) async fn has_room(
        &self,
        connection: &mut PgConnection,
        limit: Option<u64>,
        adds: u64,
    ) -> Result<(), StoreError> {
        let Some(limit) = limit else { return Ok(()) };
        match self.stored.judge(self.project, limit, adds) {
            Verdict::Fits => Ok(()),
            Verdict::Full => Err(StoreError::Full { limit }),
            Verdict::FitsByOld => {
                self.look_again(limit);
                Ok(())
            }
            Verdict::Unknown => {
                let begun = self.stored.begin(self.project);
                // Within a transaction this is a savepoint.
                let mut transaction = self.begin(connection).await?;
                let bytes = stored::measure(&mut transaction, self.project, limit, self.keeps()).await?;
                transaction.commit().await.map_err(failed)?;
                self.stored.learn(self.project, begun, Some(bytes));
                match self.stored.judge(self.project, limit, adds) {
                    Verdict::Full => Err(StoreError::Full { limit }),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Asks the database how many bytes there are by now, while the write goes on.
    fn look_again(&self, limit: u64) {
        let (pool, project, stored) = (self.pool.clone(), self.project.clone(), self.stored.clone());
        let (place, set) = (self.place.clone(), self.limit.cloned());
        tokio::spawn(async move {
            let runner = Runner {
                pool: &pool,
                place: &place,
                project: &project,
                limit: set.as_ref(),
                stored: &stored,
            };
            // Who writes next asks again, should nothing be found out.
            let begun = stored.begin(&project);
            let found = runner.measured(limit).await.ok();
            stored.learn(&project, begun, found);
        });
    }

    async fn measured(&self, enough: u64) -> Result<u64, StoreError> {
        let measure = async |connection: &mut PgConnection| {
            stored::measure(connection, self.project, enough, self.keeps()).await
        };
        self.reading(measure).await
    }

    /// The bytes that the rows take.
    pub(super) async fn stored(&self) -> Result<u64, StoreError> {
        self.measured(0).await
    }

    async fn write_undoing(
        &self,
        connection: &mut PgConnection,
        write: &Write,
    ) -> Result<Answer, StoreError> {
        let mut transaction = self.begin(connection).await?;
        // An error drops the transaction, which undoes it.
        let answer = run(&mut transaction, self.place, write, self.keeps()).await?;
        outbox::add(&mut transaction, self.project, &write.outbox, Some(answer.rows)).await?;
        transaction.commit().await.map_err(failed)?;
        Ok(answer)
    }

    pub(super) async fn write_all(&self, writes: &[Write]) -> Result<Vec<Answer>, StoreError> {
        let mut lent = self.pool.take(Some(&self.project.id)).await?;
        let done = self.write_each(&mut lent.connection, writes).await;
        if !matches!(&done, Ok(_) | Err(StoreError::OneOf { at: 0, .. })) {
            self.stored.undone(self.project);
        }
        lent.settle(done).await
    }

    async fn write_each(
        &self,
        connection: &mut PgConnection,
        writes: &[Write],
    ) -> Result<Vec<Answer>, StoreError> {
        let mut transaction = self.begin(connection).await?;
        let mut answers: Vec<Answer> = Vec::with_capacity(writes.len());
        let mut size = 0;
        for (at, write) in writes.iter().enumerate() {
            let of_it = |source| StoreError::OneOf { at, source: Box::new(source) };
            // An error drops the transaction, which undoes it.
            self.fits(&mut transaction, write).await.map_err(of_it)?;
            let answer = run(&mut transaction, self.place, write, self.keeps()).await.map_err(of_it)?;
            size += answer.body.len();
            if size > write.max_bytes {
                return Err(of_it(StoreError::AnswerTooLarge { limit: write.max_bytes }));
            }
            outbox::add(&mut transaction, self.project, &write.outbox, Some(answer.rows)).await?;
            answers.push(answer);
        }
        transaction.commit().await.map_err(failed)?;
        for (write, answer) in writes.iter().zip(&answers) {
            self.stored.written(self.project, write, answer);
        }
        Ok(answers)
    }

    pub(super) async fn import(&self, import: &Import) -> Result<u64, StoreError> {
        let mut lent = self.pool.take(Some(&self.project.id)).await?;
        let done = self.import_over(&mut lent.connection, import).await;
        if done.is_err() {
            self.stored.undone(self.project);
        }
        lent.settle(done).await
    }

    async fn import_over(&self, connection: &mut PgConnection, import: &Import) -> Result<u64, StoreError> {
        let refused = |error| StoreError::Refused(Box::new(error));
        let (mut write, portions) = (import.write.clone(), (import.portions)().map_err(refused)?);
        let mut transaction = self.begin(connection).await?;
        let mut rows = 0;
        // An error drops the transaction, which undoes it.
        for portion in portions {
            write.rows = Some(portion.map_err(refused)?);
            self.fits(&mut transaction, &write).await?;
            rows += run(&mut transaction, self.place, &write, self.keeps()).await?.rows;
        }
        outbox::add(&mut transaction, self.project, &import.outbox, Some(rows)).await?;
        transaction.commit().await.map_err(failed)?;
        Ok(rows)
    }
}

/// Where statements have their time limit from.
enum Limited<'c> {
    Session(&'c mut PgConnection),
    Transaction(Transaction<'c, Postgres>),
}

impl Limited<'_> {
    fn connection(&mut self) -> &mut PgConnection {
        match self {
            Self::Session(connection) => connection,
            Self::Transaction(transaction) => transaction,
        }
    }

    async fn end(self) -> Result<(), StoreError> {
        match self {
            Self::Session(_) => Ok(()),
            Self::Transaction(transaction) => transaction.commit().await.map_err(failed),
        }
    }
}

async fn rows(
    connection: &mut PgConnection,
    place: &Place,
    read: &Read,
    keeps: bool,
) -> Result<Answer, StoreError> {
    let (counts, planned) = match &read.count {
        None => (None, None),
        Some(count) => match &count.estimate {
            Some(Estimate::Planned { sql, counted }) => {
                let planned = planned(connection, sql, read.params.iter().take(count.params), keeps).await?;
                if planned <= *counted { (Some(count), None) } else { (None, Some(planned)) }
            }
            _ => (Some(count), None),
        },
    };
    let count = counts.map_or_else(|| "NULL::bigint".to_owned(), |count| format!("({})", count.sql));
    // One row always comes, so that an empty answer still says what the catalog is.
    let sql = format!(
        "SELECT {fresh}, q.\"hit\", {count}, q.* FROM (VALUES (1)) AS o(x) \
         LEFT JOIN (SELECT TRUE AS \"hit\", s.* FROM ({rows}) AS s) AS q ON TRUE",
        fresh = fresh(place, read.version),
        rows = read.sql,
    );
    let mut query = sqlx::query(AssertSqlSafe(sql)).persistent(keeps);
    for value in &read.params {
        query = bind::value(query, value);
    }
    let mut writer = RowWriter::new(&read.output, read.format).limited(read.max_bytes);
    let mut keys = RowWriter::new(&read.keys, Format::Json);
    let mut breaths = Breaths::default();
    let mut total = None;
    let mut rows = query.fetch(connection);
    while let Some(row) = rows.try_next().await.map_err(failed)? {
        check_fresh(&row)?;
        if writer.rows() == 0 {
            let counted: Option<i64> = row.try_get(2).map_err(failed)?;
            total = counted.and_then(|counted| u64::try_from(counted).ok()).or(planned);
        }
        if hit(&row)? {
            write_row(&mut writer, &row, 4, &read.output)?;
            breaths.after(writer.len()).await;
            if !read.keys.is_empty() {
                keys.restart();
                write_row(&mut keys, &row, 4 + read.output.len(), &read.keys)?;
            }
        }
        if writer.is_full() {
            return Err(StoreError::AnswerTooLarge { limit: read.max_bytes });
        }
    }
    let keys = (keys.rows() > 0).then(|| keys.finish());
    Ok(Answer { rows: writer.rows(), body: writer.finish(), total, inserted: None, keys })
}

/// The number of rows that the planner expects of a statement, which is not run.
async fn planned<'v>(
    connection: &mut PgConnection,
    sql: &str,
    params: impl Iterator<Item = &'v Value>,
    keeps: bool,
) -> Result<u64, StoreError> {
    let explain = AssertSqlSafe(format!("EXPLAIN (FORMAT TEXT) {sql}"));
    let mut query = sqlx::query(explain).persistent(keeps);
    for value in params {
        query = bind::value(query, value);
    }
    let first = query.fetch_all(connection).await.map_err(failed)?;
    let line: &str =
        first.first().ok_or_else(|| internal("a plan has no line"))?.try_get(0).map_err(failed)?;
    // `Seq Scan on notes  (cost=0.00..1.01 rows=1 width=4)`: a name before it may hold anything.
    let rows = line.rsplit_once(" rows=").and_then(|(_, rest)| rest.split_once(' ')).map(|(rows, _)| rows);
    rows.and_then(|rows| rows.parse().ok()).ok_or_else(|| internal("a plan tells no number of rows"))
}

async fn run(
    connection: &mut PgConnection,
    place: &Place,
    write: &Write,
    keeps: bool,
) -> Result<Answer, StoreError> {
    let fresh = fresh(place, write.version);
    let counts = write.output.is_empty() && !write.checked && !write.tells_inserted;
    let sent = write.rows.as_deref().map(|rows| Sent::new(rows, write)).unwrap_or_default();
    // Rows that were sent in another order are shown in the one they came in, unless another one is asked for.
    let ranked = sent.is_moved() && !write.output.is_empty() && write.order.is_empty();
    let id = if ranked && sent.places.is_empty() { ", \"id\" AS \"sent id\"" } else { "" };
    let sql = if counts {
        format!("WITH w AS ({}) SELECT {fresh}, (SELECT count(*) FROM w)", write.sql)
    } else {
        format!(
            "WITH w AS ({}{id}) SELECT {fresh}, q.\"hit\", q.* FROM (VALUES (1)) AS o(x) \
             LEFT JOIN (SELECT TRUE AS \"hit\", w.* FROM w) AS q ON TRUE{}",
            write.sql,
            ordered(&write.order)
        )
    };
    let mut query = sqlx::query(AssertSqlSafe(sql)).persistent(keeps);
    if write.rows.is_some() {
        for (at, kind) in write.row_kinds.iter().enumerate() {
            query = bind::column(query, *kind, &sent.rows, at);
        }
    }
    for value in &write.params {
        query = bind::value(query, value);
    }
    let mut writer = if ranked { RowWriter::sortable } else { RowWriter::new }(&write.output, write.format);
    // What cannot be undone is better shown than refused, and is one row.
    writer = writer.limited(if write.may_undo() { write.max_bytes } else { usize::MAX });
    let mut ranks = Vec::new();
    let (mut touched, mut inserted) = (0, 0);
    let mut rows = query.fetch(connection);
    while let Some(row) = rows.try_next().await.map_err(failed)? {
        check_fresh(&row)?;
        if counts {
            let counted: i64 = row.try_get(1).map_err(failed)?;
            touched = u64::try_from(counted).map_err(internal)?;
        } else if hit(&row)? {
            touched += 1;
            if write.checked && !row.try_get::<bool, _>(3 + write.output.len()).map_err(failed)? {
                return Err(StoreError::CheckFailed);
            }
            if write.tells_inserted {
                let at = 3 + write.output.len() + usize::from(write.checked);
                inserted += u64::from(row.try_get::<bool, _>(at).map_err(failed)?);
            }
            write_row(&mut writer, &row, 3, &write.output)?;
            if ranked && let Some(place) = sent.places.get(ranks.len()) {
                ranks.push(*place);
            } else if ranked {
                let at =
                    3 + write.output.len() + usize::from(write.checked) + usize::from(write.tells_inserted);
                let id: &str = row.try_get(at).map_err(failed)?;
                ranks.push(sent.ranks.get(id).copied().unwrap_or(usize::MAX));
            }
        }
        if let Some(limit) = write.max_rows
            && touched > limit
        {
            return Err(StoreError::TooManyRows { limit });
        }
        if writer.is_full() {
            return Err(StoreError::AnswerTooLarge { limit: write.max_bytes });
        }
    }
    let given = write.rows.as_ref().map_or(0, Vec::len) as u64;
    if write.every_row && touched < given {
        return Err(StoreError::CheckFailed);
    }
    if write.exactly_one && touched != 1 {
        return Err(StoreError::WrongRowCount { rows: touched });
    }
    let body = if write.output.is_empty() { Vec::new() } else { writer.finish_sorted(&ranks) };
    let inserted = write.tells_inserted.then_some(inserted);
    Ok(Answer { body, rows: touched, inserted, ..Answer::default() })
}

/// Lets others go on while a large answer is written: its rows may all have come already, so that nothing is waited for.
#[derive(Default)]
struct Breaths {
    written: usize,
}

impl Breaths {
    /// How many bytes are written between two breaths.
    const STRIDE: usize = 256 * 1024;

    async fn after(&mut self, written: usize) {
        if written - self.written > Self::STRIDE {
            self.written = written;
            tokio::task::yield_now().await;
        }
    }
}

/// The order of the answer.
fn ordered(order: &[Direction]) -> String {
    let terms: Vec<String> = order
        .iter()
        .enumerate()
        .map(|(at, direction)| {
            let way = if direction.descending { "DESC" } else { "ASC" };
            let nulls = if direction.nulls_first { "FIRST" } else { "LAST" };
            format!("q.\"o{at}\" {way} NULLS {nulls}")
        })
        .collect();
    if terms.is_empty() { String::new() } else { format!(" ORDER BY {}", terms.join(", ")) }
}

/// Rows in the order of their ids, or of what tells whether they exist: two statements that lock the same rows in one order
/// never wait for each other.
#[derive(Default)]
struct Sent<'w> {
    rows: Vec<&'w Vec<Value>>,
    /// Where each came from, by its id; nothing where they came in this order.
    ranks: HashMap<&'w str, usize>,
    /// The same by their places, where each of them is answered in its turn and not by the id it was sent with.
    places: Vec<usize>,
}

impl<'w> Sent<'w> {
    fn new(rows: &'w [Vec<Value>], write: &Write) -> Self {
        fn id(row: &[Value]) -> &str {
            if let Some(Value::Text(id)) = row.first() { id } else { "" }
        }
        if !write.conflict.is_empty() {
            return Self::by(rows, write);
        }
        let mut sent: Vec<&Vec<Value>> = rows.iter().collect();
        if sent.is_sorted_by_key(|row| id(row)) {
            return Self { rows: sent, ..Self::default() };
        }
        // Of rows with the same id the first one counts, as in the order they came in.
        sent.sort_by_key(|row| id(row));
        let ranks = rows.iter().enumerate().rev().map(|(at, row)| (id(row), at)).collect();
        Self { rows: sent, ranks, places: Vec::new() }
    }

    /// A merge touches each of its rows or is undone. Other inserts pass over rows: they keep the order they came in.
    fn by(rows: &'w [Vec<Value>], write: &Write) -> Self {
        let mut places: Vec<usize> = (0..rows.len()).collect();
        if write.tells_inserted {
            let value = |at: usize, column: usize| rows.get(at).and_then(|row| row.get(column));
            places.sort_by(|one, other| {
                let by = write.conflict.iter().map(|at| compared(value(*one, *at), value(*other, *at)));
                by.fold(Ordering::Equal, Ordering::then)
            });
        }
        Self { rows: places.iter().filter_map(|at| rows.get(*at)).collect(), ranks: HashMap::new(), places }
    }

    /// Tells whether rows came in another order.
    fn is_moved(&self) -> bool {
        !self.ranks.is_empty() || !self.places.is_sorted()
    }
}

/// Any order of the values of one column that is always the same.
fn compared(one: Option<&Value>, other: Option<&Value>) -> Ordering {
    match (one, other) {
        (Some(Value::Text(one)), Some(Value::Text(other))) => one.cmp(other),
        (Some(Value::Integer(one)), Some(Value::Integer(other))) => one.cmp(other),
        (Some(Value::Real(one)), Some(Value::Real(other))) => one.total_cmp(other),
        (Some(Value::Boolean(one)), Some(Value::Boolean(other))) => one.cmp(other),
        (Some(Value::Timestamp(one)), Some(Value::Timestamp(other))) => one.get().cmp(&other.get()),
        (Some(Value::Null(_)), Some(Value::Null(_))) => Ordering::Equal,
        (Some(Value::Null(_)), _) => Ordering::Less,
        (_, Some(Value::Null(_))) => Ordering::Greater,
        _ => Ordering::Equal,
    }
}

/// Whether the catalog is of this version. The number in the text also keeps statements prepared for another
/// version from being used again.
pub(super) fn fresh(place: &Place, version: u64) -> String {
    place.guard.as_ref().map_or_else(|| "TRUE".to_owned(), |guard| format!("{guard} = {version}"))
}

pub(super) fn check_fresh(row: &PgRow) -> Result<(), StoreError> {
    let fresh: Option<bool> = row.try_get(0).map_err(failed)?;
    if fresh == Some(true) { Ok(()) } else { Err(StoreError::Stale) }
}

fn hit(row: &PgRow) -> Result<bool, StoreError> {
    Ok(row.try_get::<Option<bool>, _>(1).map_err(failed)?.unwrap_or(false))
}

pub(super) fn internal(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::Internal(error.into())
}

pub(super) fn sqlstate(error: &sqlx::Error) -> Option<String> {
    error.as_database_error().and_then(sqlx::error::DatabaseError::code).map(Into::into)
}

fn constraint(error: &sqlx::Error) -> Option<&str> {
    error.as_database_error().and_then(sqlx::error::DatabaseError::constraint)
}

/// What an error of PostgreSQL means to a caller.
pub(super) fn failed(error: sqlx::Error) -> StoreError {
    match &error {
        sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => {
            return StoreError::Unavailable(error.into());
        }
        _ => {}
    }
    let Some(state) = sqlstate(&error) else { return internal(error) };
    match state.as_str() {
        // Indexes of tables are named by us, and begin so; no table does.
        "23505" if constraint(&error).is_some_and(|name| name.starts_with('_')) => StoreError::ValueExists,
        "23505" => StoreError::RowExists,
        "54000" => StoreError::TooLongForIndex,
        // A cast or a sum that does not fit, a document of the wrong kind, an expression that is too large.
        "2201B" | "22P02" | "22P05" | "22003" | "22007" | "22008" | "22023" => StoreError::Misfit,
        // An unknown schema, table or column; a prepared statement whose table has changed.
        "3F000" | "42P01" | "42703" | "0A000" => StoreError::Stale,
        "57014" => StoreError::Timeout,
        // Deadlock, serialisation, a lock that was not given: the transaction is undone, and may be run again.
        "40P01" | "40001" | "55P03" => StoreError::Contended(error.into()),
        // Other rollbacks, connections, resources, the operator.
        other if ["40", "08", "53", "57"].iter().any(|class| other.starts_with(class)) => {
            StoreError::Unavailable(error.into())
        }
        _ => internal(error),
    }
}
