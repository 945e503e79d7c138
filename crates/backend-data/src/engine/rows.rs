//! Operations on rows: list, get, insert, put, update, delete.

use super::{
    Engine, Page, ReadOptions, WriteOptions, WriteOutcome, body, file_columns,
    plan::{
        parse_filtered_query, parse_insert_query, parse_put_query, parse_select_query, plan_update,
        range_error, reject_impossible_id, reject_insert_parameters, statement_options, unwrap_single_row,
        write_outcome,
    },
    precondition::parse_expected,
};
use crate::{
    access::Access,
    error::{Error, Result},
    ident::ProjectRef,
    query::{Count, MAX_LIMIT, Query, Resolution, SelectItem, cursor},
    rule::Action,
    sql::{self, RowSelector, StatementOptions},
    store::{Format, StatementResult, StoreError, Write},
    timestamp::Micros,
};

impl Engine {
    /// Returns a page of the rows that match a query string: at most [`MAX_LIMIT`] rows and
    /// [`Limits::max_response_bytes`](crate::Limits::max_response_bytes).
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if the query does not parse or does not fit the table,
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the caller sees no such table,
    /// [`ErrorKind::Range`](crate::ErrorKind::Range) if the offset is greater than the number of matching rows and they
    /// were counted, [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge),
    /// [`ErrorKind::Timeout`](crate::ErrorKind::Timeout), and
    /// [`ErrorKind::NotAcceptable`](crate::ErrorKind::NotAcceptable) with [`ReadOptions::single_object`].
    pub async fn list(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        query: &str,
        options: &ReadOptions,
    ) -> Result<Page> {
        self.list_query(project, access, table, &Query::parse(query)?, options).await
    }

    /// Returns a page of the rows that match a query.
    ///
    /// # Errors
    /// Those of [`Engine::list`].
    pub async fn list_query(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        query: &Query,
        options: &ReadOptions,
    ) -> Result<Page> {
        reject_insert_parameters(query)?;
        let mut query = query.clone();
        let mut limit = query.limit.unwrap_or(MAX_LIMIT).min(MAX_LIMIT);
        if query.cursor.is_some() && (query.offset > 0 || options.range.is_some()) {
            return Err(Error::invalid_request("a cursor cannot be combined with an offset or a range"));
        }
        if let Some((first, last)) = options.range {
            if last.is_some_and(|last| last < first) {
                return Err(range_error("the range ends before it begins"));
            }
            query.offset = query.offset.saturating_add(first);
            limit = limit.saturating_sub(if query.limit.is_some() { first } else { 0 });
            limit = limit.min(last.map_or(u64::MAX, |last| (last - first).saturating_add(1)));
        }
        let offset = query.offset;
        // A second row is enough to refuse the first one.
        let read_limit = if options.single_object { limit.min(2) } else { limit };
        let result = self
            .run_on_table(
                project,
                access,
                table,
                |target| sql::list(target, &query, read_limit, options.effective_count(), options.format),
                |read| self.store.read(project, read),
            )
            .await?;
        let StatementResult { body, rows, total, cursor_keys: keys, .. } = result;
        let estimated = matches!(options.count_kind, Some(Count::Planned | Count::Estimated));
        // An estimate may be less than the rows of this page and those before it.
        let total = total
            .map(|total| if estimated && rows > 0 { total.max(offset.saturating_add(rows)) } else { total });
        if let Some(total) = total
            && offset > total
            && !estimated
        {
            return Err(range_error("the offset is beyond the last row").with_total(total).with_details(
                format!("An offset of {offset} was requested, but there are only {total} rows."),
            ));
        }
        if options.single_object && rows > 1 {
            return Err(StoreError::WrongRowCount {
                rows: self.count_rows(project, access, table, &query, limit).await?,
            }
            .into());
        }
        let body =
            if options.single_object { unwrap_single_row(body, rows, options.format)? } else { body.into() };
        let terms = sql::stable_order(&query);
        let next = keys.filter(|_| rows == limit && rows > 0);
        let next = next.map(|keys| cursor::encode(table, &terms, &keys)).transpose()?;
        Ok(Page { body, rows, offset, limit, total, next_cursor: next })
    }

    /// Counts the rows of a query's page.
    async fn count_rows(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        query: &Query,
        limit: u64,
    ) -> Result<u64> {
        let counted = self.run_on_table(
            project,
            access,
            table,
            |target| sql::list(target, query, 1, Some(Count::Exact), Format::Json),
            |read| self.store.read(project, read),
        );
        let total = counted.await?.total.unwrap_or_default();
        Ok(total.saturating_sub(query.offset).min(limit))
    }

    /// Returns the row with an id, as a JSON object or as CSV. The query string may hold `select`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such row that the caller may read.
    pub async fn get(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        id: &str,
        query: &str,
        format: Format,
    ) -> Result<Page> {
        let query = parse_select_query(query)?;
        reject_impossible_id(id)?;
        let read = self.run_on_table(
            project,
            access,
            table,
            |target| sql::by_id(target, id, &query.select, format),
            |read| self.store.read(project, read),
        );
        let StatementResult { body, rows, .. } = read.await?;
        let body = unwrap_single_row(body, rows, format).map_err(|_| Error::row_not_found())?;
        Ok(Page { body, rows, offset: 0, limit: 1, total: None, next_cursor: None })
    }

    /// Inserts one row or an array of them, all or nothing: at most [`Limits::max_insert`](crate::Limits::max_insert).
    /// The query string may hold `columns`, `select`, `order` and `on_conflict`, which names `id` or the columns of a
    /// unique index.
    ///
    /// A row without an id gets one, and every new row gets the current time as `created_at`.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if the body or a value does not fit, `row_exists` or
    /// `value_exists` if a row exists and there is no [`WriteOptions::resolution`],
    /// [`ErrorKind::Forbidden`](crate::ErrorKind::Forbidden) if no rule allows it, and `storage_full`.
    pub async fn insert(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        query: &str,
        body: &[u8],
        options: &WriteOptions,
    ) -> Result<WriteOutcome> {
        let query = parse_insert_query(query)?;
        let now = self.clock.now();
        let plan = |target: &sql::Target<'_>| self.plan_insert(target, &query, body, options, now);
        self.write(project, access, table, plan, options).await
    }

    /// Inserts the row whose id the query string names, as in `id=eq.tea`, or updates it if it exists. The rules are
    /// those of an insert with [`Resolution::MergeDuplicates`]. The body is an object; an id in it must be the same.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if the query does not name one row or a value does not fit,
    /// and [`ErrorKind::Forbidden`](crate::ErrorKind::Forbidden) if no rule allows it.
    pub async fn put(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        query: &str,
        body: &[u8],
        options: &WriteOptions,
    ) -> Result<WriteOutcome> {
        let (query, id) = parse_put_query(query)?;
        let now = self.clock.now();
        let plan = |target: &sql::Target<'_>| self.plan_put(target, &query, &id, body, options, now);
        self.write(project, access, table, plan, options).await
    }

    /// Updates the rows that match the filters of the query string, at least one of which is required. With `order` and
    /// `limit`, only the first rows are updated. The body is an object of the columns to set; an empty one changes
    /// nothing.
    ///
    /// # Errors
    /// `filter_required` without a filter, [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if the query or a value
    /// does not fit, [`ErrorKind::Forbidden`](crate::ErrorKind::Forbidden) if no rule allows it, `value_exists` and
    /// `storage_full`.
    pub async fn update(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        query: &str,
        body: &[u8],
        options: &WriteOptions,
    ) -> Result<WriteOutcome> {
        let query = parse_filtered_query(query)?;
        self.update_where(project, access, table, &query, &RowSelector::Query(&query), body, options).await
    }

    /// Updates one row and returns it as an object. The query string may hold `select`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such row that the caller may update,
    /// [`ErrorKind::PreconditionFailed`](crate::ErrorKind::PreconditionFailed) if it is not as
    /// [`Engine::with_precondition`] requires, and those of [`Engine::update`].
    #[expect(
        clippy::too_many_arguments,
        reason = "the arguments of the other operations, and the id of the row"
    )]
    pub async fn update_by_id(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        id: &str,
        query: &str,
        body: &[u8],
        options: &WriteOptions,
    ) -> Result<WriteOutcome> {
        let query = parse_select_query(query)?;
        reject_impossible_id(id)?;
        let options = WriteOptions { single_object: true, ..*options };
        let expected = self.expected_row(project, access, table, id, Action::Update).await?;
        let row = expected.as_deref().map(parse_expected).transpose()?;
        let matching = RowSelector::by_id(id, row.as_ref());
        let written = self.update_where(project, access, table, &query, &matching, body, &options).await;
        self.explain_missing_row(written, project, access, table, id, expected.as_deref()).await
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the arguments of the other operations, and the selected rows"
    )]
    async fn update_where(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        query: &Query,
        matching: &RowSelector<'_>,
        body: &[u8],
        options: &WriteOptions,
    ) -> Result<WriteOutcome> {
        let plan = |target: &sql::Target<'_>| plan_update(target, query, matching, body, options);
        self.write(project, access, table, plan, options).await
    }

    /// Deletes the rows that match the filters of the query string, at least one of which is required. With `order` and
    /// `limit`, only the first rows are deleted.
    ///
    /// # Errors
    /// `filter_required` without a filter, [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) if the query does not fit,
    /// and [`ErrorKind::Forbidden`](crate::ErrorKind::Forbidden) if no rule allows it.
    pub async fn delete(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        query: &str,
        options: &WriteOptions,
    ) -> Result<WriteOutcome> {
        let query = parse_filtered_query(query)?;
        let written = statement_options(&query, options);
        let matching = RowSelector::Query(&query);
        let plan = |target: &sql::Target<'_>| sql::delete(target, &matching, &written);
        self.write(project, access, table, plan, options).await
    }

    /// Deletes one row and returns it as an object. The query string may hold `select`.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such row that the caller may delete,
    /// [`ErrorKind::PreconditionFailed`](crate::ErrorKind::PreconditionFailed) if it is not as
    /// [`Engine::with_precondition`] requires, and [`ErrorKind::Forbidden`](crate::ErrorKind::Forbidden) if no rule allows
    /// it.
    pub async fn delete_by_id(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        id: &str,
        query: &str,
        options: &WriteOptions,
    ) -> Result<WriteOutcome> {
        let query = parse_select_query(query)?;
        reject_impossible_id(id)?;
        let options = WriteOptions { single_object: true, ..*options };
        let written = statement_options(&query, &options);
        let expected = self.expected_row(project, access, table, id, Action::Delete).await?;
        let row = expected.as_deref().map(parse_expected).transpose()?;
        let matching = RowSelector::by_id(id, row.as_ref());
        let plan = |target: &sql::Target<'_>| sql::delete(target, &matching, &written);
        let written = self.write(project, access, table, plan, &options).await;
        self.explain_missing_row(written, project, access, table, id, expected.as_deref()).await
    }

    pub(super) fn plan_put(
        &self,
        target: &sql::Target<'_>,
        query: &Query,
        id: &str,
        body: &[u8],
        options: &WriteOptions,
        now: Micros,
    ) -> Result<Write> {
        sql::authorize(target, Action::Insert)?;
        let fill = body::RowDefaults::new(target.table, &self.ids, now)?;
        let changes = body::parse_put_row(target.table, body, id, &fill)?;
        let resolution = Some(Resolution::MergeDuplicates);
        sql::insert(
            target,
            changes,
            &StatementOptions { resolution, now: Some(now), ..statement_options(query, options) },
        )
    }

    pub(super) fn plan_insert(
        &self,
        target: &sql::Target<'_>,
        query: &Query,
        body: &[u8],
        options: &WriteOptions,
        now: Micros,
    ) -> Result<Write> {
        sql::authorize(target, Action::Insert)?;
        let columns = query.columns.as_deref();
        let read = if options.csv_body { file_columns::parse_insert_csv } else { body::parse_insert_rows };
        let fill = body::RowDefaults::new(target.table, &self.ids, now)?;
        let fill = fill.with_missing_default(options.missing_default);
        let changes = read(target.table, body, columns, self.limits.max_insert, &fill)?;
        let conflict = query.on_conflict.as_deref().unwrap_or_default();
        let conflict = target.table.resolve_conflict_target(conflict, &changes.given)?;
        if options.resolution == Some(Resolution::MergeDuplicates) {
            body::reject_duplicate_rows(&changes, &conflict)?;
        }
        let only_ids = [SelectItem::column("id")];
        let select = if options.only_ids { &only_ids } else { &query.select[..] };
        let resolution = options.resolution;
        let written =
            StatementOptions { resolution, now: Some(now), select, ..statement_options(query, options) };
        sql::insert(target, changes, &written)
    }

    async fn write(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        plan: impl Fn(&sql::Target<'_>) -> Result<Write>,
        options: &WriteOptions,
    ) -> Result<WriteOutcome> {
        let run = |write| self.store.write(project, write);
        let StatementResult { body, rows, inserted, .. } =
            self.run_on_table(project, access, table, plan, run).await?;
        self.notify_written(project, table, rows);
        write_outcome(body, rows, inserted, options)
    }
}
