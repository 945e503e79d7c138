//! The statement that looks several rows up by their ids.

use std::{fmt::Write as _, iter};

use backend_data::{
    RowWriter, StoreError,
    store::{Answer, Place, Read},
};
use futures::TryStreamExt;
use sqlx::{AssertSqlSafe, PgConnection, Row};

use super::{
    answer::write_row,
    bind,
    run::{check_fresh, failed, fresh, internal},
};

/// How many ids one statement looks up at most.
pub(super) const MOST: usize = 16;

/// How many ids the statements have room for: few of them serve every number of reads.
const SIZES: [usize; 2] = [4, MOST];

/// Runs reads by id of one shape, no more than [`MOST`], and answers in their order.
///
/// The ids are a table of their own that is joined row by row, with a fence against any other plan: a server that
/// remembers a plan from when the table was small must not come back to walking all of it.
pub(super) async fn rows(
    connection: &mut PgConnection,
    place: &Place,
    reads: &[&Read],
    keeps: bool,
) -> Result<Vec<Result<Answer, StoreError>>, StoreError> {
    let Some(first) = reads.first() else { return Ok(Vec::new()) };
    let size = SIZES.into_iter().find(|size| reads.len() <= *size);
    let size = size.ok_or_else(|| internal("too many reads for one statement"))?;
    let mut query = sqlx::query(AssertSqlSafe(statement(place, first, size)?)).persistent(keeps);
    for value in &first.params {
        query = bind::value(query, value);
    }
    let others = reads.iter().skip(1).map(|read| read.params.first());
    for value in others.chain(iter::repeat(None)).take(size - 1) {
        query = match value {
            Some(value) => bind::value(query, value),
            None => query.bind(None::<&str>),
        };
    }
    let mut found: Vec<Option<Result<Answer, StoreError>>> = reads.iter().map(|_| None).collect();
    let mut rows = query.fetch(connection);
    while let Some(row) = rows.try_next().await.map_err(failed)? {
        check_fresh(&row)?;
        let at: i32 = row.try_get(1).map_err(failed)?;
        let at = usize::try_from(at).map_err(internal)?;
        let (Some(read), Some(found)) = (reads.get(at), found.get_mut(at)) else { continue };
        if row.try_get::<Option<bool>, _>(2).map_err(failed)? == Some(true) {
            let mut writer = RowWriter::new(&read.output, read.format).limited(read.max_bytes);
            write_row(&mut writer, &row, 3, &read.output)?;
            *found = Some(if writer.is_full() {
                Err(StoreError::AnswerTooLarge { limit: read.max_bytes })
            } else {
                Ok(finished(writer))
            });
        }
    }
    let nothing = |read: &Read| Ok(finished(RowWriter::new(&read.output, read.format)));
    Ok(found.into_iter().zip(reads).map(|(found, read)| found.unwrap_or_else(|| nothing(read))).collect())
}

/// The text for ids in the first parameter and the last `size - 1`.
fn statement(place: &Place, read: &Read, size: usize) -> Result<String, StoreError> {
    let parts = read.point.clone().and_then(|point| {
        let (before, after) = (read.sql.get(..point.start)?, read.sql.get(point.end..)?);
        Some((before, after))
    });
    let (before, after) = parts.ok_or_else(|| internal("this read looks no row up"))?;
    let mut ids = "($1::text, 0)".to_owned();
    for at in 1..size {
        // Writing to a string does not fail.
        let _ = write!(ids, ", (${}, {at})", read.params.len() + at);
    }
    // No table of a project has a blank in its name, so none can take the place of this one.
    Ok(format!(
        "SELECT {fresh}, \"asked ids\".\"at\", q.* FROM (VALUES {ids}) AS \"asked ids\"(\"id\", \"at\") \
         LEFT JOIN LATERAL (SELECT TRUE AS \"hit\", s.* FROM \
         ({before}\"asked ids\".\"id\"{after} LIMIT 1) AS s) AS q ON TRUE \
         WHERE \"asked ids\".\"id\" IS NOT NULL",
        fresh = fresh(place, read.version),
    ))
}

fn finished(writer: RowWriter<'_>) -> Answer {
    Answer { rows: writer.rows(), body: writer.finish(), ..Answer::default() }
}
