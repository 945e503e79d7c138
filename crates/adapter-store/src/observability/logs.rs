//! Lines of log, as they are read and as apps leave them.

use ::observability::{LogLine, LogQuery, LogRead, LogSink, NewLogLine, logs::EventLinesQuery};
use async_trait::async_trait;
use kernel::{
    StoreError, UnitOfWork as _,
    events::{Event, EventKind, RefusedRequest},
    id::{AppId, WorkspaceId},
};
use sea_orm::{
    ColumnTrait as _, EntityTrait as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _,
    sea_query::Expr,
};

use super::{log_quota, log_rows::LogRow};
use crate::{
    convert::{RowContext, escape_like},
    entity::{
        column::{DbId, DbNumber},
        log_lines,
    },
    error::OrStoreError as _,
    store::Store,
};

fn log_line(model: log_lines::Model) -> Result<LogLine, StoreError> {
    let row = RowContext::new("log_lines", model.app_id);
    Ok(LogLine {
        id: row.number(model.id)?,
        app: model.app_id.0,
        run: model.run_id.map(DbId::into_inner),
        content: NewLogLine {
            at: model.at.0,
            level: model.level.0,
            source: model.source.0,
            message: model.message,
        },
    })
}

#[span_macros::traced]
#[async_trait]
impl LogRead for Store {
    async fn log_lines(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        query: &LogQuery,
    ) -> Result<Vec<LogLine>, StoreError> {
        use log_lines::Column;
        let found = log_lines::Entity::find()
            .filter(Column::AppId.eq(DbId(app)))
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .apply_if(query.run, |select, run| select.filter(Column::RunId.eq(DbId(run))))
            .apply_if(query.level, |select, level| select.filter(Column::Level.gte(DbNumber(level))))
            .apply_if(query.source, |select, source| select.filter(Column::Source.eq(DbNumber(source))))
            .apply_if(query.before, |select, before| {
                select.filter(Column::Id.lt(i64::try_from(before).unwrap_or(i64::MAX)))
            })
            .apply_if(query.text.as_deref(), |select, text| select.filter(self.contains_text(text)))
            .order_by_desc(Column::Id)
            .limit(u64::from(query.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(log_line).collect()
    }

    async fn event_log_lines(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        lines: EventLinesQuery,
    ) -> Result<Vec<LogLine>, StoreError> {
        use log_lines::Column;
        let select = log_lines::Entity::find()
            .filter(Column::AppId.eq(DbId(app)))
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .filter(Column::EventSeq.eq(i64::try_from(lines.seq).unwrap_or(i64::MAX)))
            .filter(Column::Id.gt(i64::try_from(lines.after).unwrap_or(i64::MAX)));
        let select = match lines.run {
            Some(run) => select.filter(Column::RunId.eq(DbId(run))),
            None => select.filter(Column::RunId.is_null()),
        };
        let found = select
            .order_by_asc(Column::Id)
            .limit(u64::from(lines.limit))
            .all(self.read())
            .await
            .or_store_error()?;
        found.into_iter().map(log_line).collect()
    }
}

impl Store {
    /// The condition that a line's message contains a text, whatever its case.
    fn contains_text(&self, text: &str) -> Expr {
        if self.is_postgres() {
            let pattern = format!("%{}%", escape_like(text));
            Expr::cust_with_values("lower(message) LIKE lower($1) ESCAPE '\\'", [pattern])
        } else {
            // SQLite's `lower` and `LIKE` know the case of ASCII only.
            Expr::cust_with_values("message GLOB ?", [case_insensitive_glob(text)])
        }
    }
}

/// A pattern of `GLOB` for texts that hold this one, whatever its case: each character stands as the set of its cases.
fn case_insensitive_glob(text: &str) -> String {
    let mut pattern = String::from("*");
    for character in text.chars() {
        match (single_char(character.to_lowercase()), single_char(character.to_uppercase())) {
            (Some(lower), Some(upper)) if lower != upper => {
                pattern.extend(['[', character, lower, upper, ']']);
            }
            _ if "*?[".contains(character) => pattern.extend(['[', character, ']']),
            _ => pattern.push(character),
        }
    }
    pattern.push('*');
    pattern
}

/// The only character of a mapping, if it has but one.
fn single_char(mut characters: impl Iterator<Item = char>) -> Option<char> {
    characters.next().filter(|_| characters.next().is_none())
}

#[span_macros::traced]
#[async_trait]
impl LogSink for Store {
    async fn append_log(
        &self,
        workspace: WorkspaceId,
        app: AppId,
        lines: Vec<NewLogLine>,
        refused: Vec<RefusedRequest>,
    ) -> Result<(), StoreError> {
        let Some(at) = lines.last().map(|line| line.at) else { return Ok(()) };
        let event = |kind| Event::of_app(workspace, app, at, kind);
        let mut tx = self.begin().await?;
        let lines = log_quota::enforce_daily_quota(&mut tx, (workspace, app), at, lines).await?;
        if lines.is_empty() && refused.is_empty() {
            return Ok(());
        }
        let rows = lines.into_iter().map(|line| LogRow { workspace, app, run: None, line, event: None });
        let rows: Vec<_> = rows.collect();
        for request in refused {
            tx.publish(event(EventKind::EgressRefused { run: None, request }));
        }
        let lines = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        if lines > 0 {
            tx.emit_with_log_lines(event(EventKind::LinesLogged { lines }), rows);
        }
        tx.commit_unaudited().await
    }
}
