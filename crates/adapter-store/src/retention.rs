//! Deletion of what has expired, a little at a time.

use ::connections::{connection::ConnectionStatusName, health::Bucket};
use ::runs::webhooks::refused_calls::{self, minute_of};
use chrono::TimeDelta;
use kernel::{StoreError, Timestamp};
use observability::{Resolution, health::BLOCKED_WINDOW, logs::RETENTION_DAYS, notifications};
use sea_orm::{
    ColumnTrait, EntityTrait, Iterable as _, PrimaryKeyToColumn, QueryFilter as _, QueryOrder as _,
    QuerySelect as _, QueryTrait as _, Select,
    sea_query::{Expr, ExprTrait as _},
};

use crate::{
    caller_cache,
    convert::min_uuid_v7_at,
    entity::{
        app_blocked_runs, app_changes, app_log_volume, app_metrics, approvals,
        column::{DbNumber, DbText, DbTime},
        connections, deliveries, device_logins, gate_calls, invites, log_lines, notification_deliveries,
        notifications as notification_rows, oauth_access_tokens, oauth_authorizations, oauth_clients,
        oauth_grants, oauth_refresh_tokens, occurrences, passkey_ceremonies, project_minutes,
        project_requests, repeat_signatures, sessions, sign_ins, webhook_keys, webhook_refusals,
    },
    error::OrStoreError as _,
    group_commit::quarter_of,
    query::literal,
    store::Store,
};

/// Time that a webhook's deliveries are kept; its page shows the last ten.
const DELIVERY_RETENTION: TimeDelta = TimeDelta::days(30);
/// Time that occurrences of schedules are kept.
const OCCURRENCE_RETENTION: TimeDelta = TimeDelta::days(90);
/// Time that the questions of runs are kept; they wait for a week at most.
const APPROVAL_RETENTION: TimeDelta = TimeDelta::days(90);
/// Time that a planned change is kept after it expired, so that its owner can still see what it was.
const PLANNED_CHANGE_RETENTION: TimeDelta = TimeDelta::days(7);
/// Time that a discarded import stays in the list.
const DISCARDED_IMPORT_RETENTION: TimeDelta = TimeDelta::days(30);
/// Time that requests to the data API of backend projects are kept, single and counted.
const PROJECT_REQUEST_RETENTION: TimeDelta = TimeDelta::days(2);
/// Time that an agent client's question is kept after it is over, so that a code that comes again is noticed.
const AUTHORIZATION_RETENTION: TimeDelta = TimeDelta::days(1);
/// Time that a refresh token is kept after it was spent, so that one that comes again is noticed.
const SPENT_REFRESH_TOKEN_RETENTION: TimeDelta = TimeDelta::days(30);
/// Time that an agent client stays registered that nobody lets in.
const UNUSED_CLIENT_RETENTION: TimeDelta = TimeDelta::days(7);
/// Time that a device login that is over can still be seen to be so.
const DEVICE_LOGIN_RETENTION: TimeDelta = TimeDelta::minutes(10);
/// Time that an invite is kept after it expired, or would have.
const INVITE_RETENTION: TimeDelta = TimeDelta::days(90);
/// Time that the volume of an app's log on a day is kept.
const LOG_VOLUME_RETENTION: TimeDelta = TimeDelta::days(2);
/// Time that a disconnected connection stays in the list.
const DISCONNECTED_RETENTION: TimeDelta = TimeDelta::days(30);
/// Rows that one statement deletes, so that the writer is never held for long.
const CHUNK_ROWS: u64 = 500;
/// Statements of one sweep for each kind; at most.
const MAX_CHUNKS: usize = 20;

impl Store {
    /// Deletes expired webhook keys, sign-ins, sessions, device logins, invites, lines of log, metrics, events, notifications,
    /// deliveries, occurrences, finished runs, dead letters, and what agent clients left behind; what is left is deleted
    /// the next time.
    ///
    /// # Errors
    /// Fails if the database fails.
    pub async fn delete_expired(&self, now: Timestamp) -> Result<(), StoreError> {
        let older_than = |keep| DbTime(now - keep);
        self.delete_before(webhook_keys::Column::ExpiresAt, DbTime(now)).await?;
        self.delete_before(repeat_signatures::Column::ExpiresAt, DbTime(now)).await?;
        self.delete_before(sign_ins::Column::ExpiresAt, DbTime(now)).await?;
        self.delete_before(sessions::Column::ExpiresAt, DbTime(now)).await?;
        self.delete_before(device_logins::Column::ExpiresAt, older_than(DEVICE_LOGIN_RETENTION)).await?;
        self.delete_before(passkey_ceremonies::Column::ExpiresAt, DbTime(now)).await?;
        let log_retention = TimeDelta::days(RETENTION_DAYS.into());
        self.delete_before(log_lines::Column::At, older_than(log_retention)).await?;
        let notification_retention = TimeDelta::days(notifications::RETENTION_DAYS.into());
        self.delete_before(notification_rows::Column::At, older_than(notification_retention)).await?;
        self.delete_expired_notification_deliveries(now - notification_retention).await?;
        self.delete_before(app_log_volume::Column::Day, older_than(LOG_VOLUME_RETENTION)).await?;
        self.delete_before(invites::Column::ExpiresAt, older_than(INVITE_RETENTION)).await?;
        self.delete_before(occurrences::Column::RecordedAt, older_than(OCCURRENCE_RETENTION)).await?;
        self.delete_before(approvals::Column::CreatedAt, older_than(APPROVAL_RETENTION)).await?;
        self.delete_expired_drafts(now).await?;
        self.delete_before(app_changes::Column::ExpiresAt, older_than(PLANNED_CHANGE_RETENTION)).await?;
        self.delete_before(project_requests::Column::At, older_than(PROJECT_REQUEST_RETENTION)).await?;
        self.delete_before(project_minutes::Column::At, older_than(PROJECT_REQUEST_RETENTION)).await?;
        self.delete_before(oauth_authorizations::Column::ExpiresAt, older_than(AUTHORIZATION_RETENTION))
            .await?;
        self.delete_before(oauth_access_tokens::Column::ExpiresAt, DbTime(now)).await?;
        self.delete_before(oauth_refresh_tokens::Column::SpentAt, older_than(SPENT_REFRESH_TOKEN_RETENTION))
            .await?;
        let disconnected = connections::Entity::find()
            .filter(connections::Column::Status.eq(DbText(ConnectionStatusName::Disconnected)))
            .filter(connections::Column::StatusSince.lte(older_than(DISCONNECTED_RETENTION)));
        self.delete_in_chunks(disconnected).await?;
        self.delete_discarded_imports(now - DISCARDED_IMPORT_RETENTION).await?;
        let last_kept = Bucket::of(now).oldest_of_day();
        let calls = gate_calls::Entity::find().filter(gate_calls::Column::Bucket.lt(last_kept.0));
        self.delete_in_chunks(calls).await?;
        let blocked = app_blocked_runs::Entity::find()
            .filter(app_blocked_runs::Column::Quarter.lte(quarter_of(now - BLOCKED_WINDOW)));
        self.delete_in_chunks(blocked).await?;
        let refused = webhook_refusals::Entity::find()
            .filter(webhook_refusals::Column::Minute.lte(minute_of(now - refused_calls::KEPT)));
        self.delete_in_chunks(refused).await?;
        self.delete_expired_metrics(now).await?;
        self.delete_expired_deliveries(now - DELIVERY_RETENTION).await?;
        self.expire_approvals(now).await?;
        self.delete_expired_runs(now).await?;
        self.delete_expired_dead_letters(now).await?;
        self.delete_unused_oauth_clients(now).await?;
        self.delete_expired_events(now).await?;
        caller_cache::delete_old_changes(&*self.write().await?).await
    }

    /// Deletes the rows of a column's table whose time is `before` or earlier.
    async fn delete_before<C>(&self, time: C, before: DbTime) -> Result<(), StoreError>
    where
        C: ColumnTrait<EntityName: EntityTrait<Column = C>>,
    {
        self.delete_in_chunks(<C::EntityName as EntityTrait>::find().filter(time.lte(before))).await
    }

    /// Deletes the rows that a query selects, a few in each statement; what is left goes the next time.
    pub(crate) async fn delete_in_chunks<E: EntityTrait>(
        &self,
        expired: Select<E>,
    ) -> Result<(), StoreError> {
        for _ in 0..MAX_CHUNKS {
            if self.delete_chunk(expired.clone(), CHUNK_ROWS).await? < CHUNK_ROWS {
                break;
            }
        }
        Ok(())
    }

    /// Deletes at most `limit` of the rows that a query selects, in one statement; returns their number.
    pub(crate) async fn delete_chunk<E: EntityTrait>(
        &self,
        rows: Select<E>,
        limit: u64,
    ) -> Result<u64, StoreError> {
        let key = || E::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column);
        let chunk = rows.select_only().columns(key()).limit(limit).into_query();
        let is_in_chunk = Expr::tuple(key().map(Expr::col)).in_subquery(chunk);
        let deleted =
            E::delete_many().filter(is_in_chunk).exec(&*self.write().await?).await.or_store_error()?;
        Ok(deleted.rows_affected)
    }

    /// Deletes metrics of apps, each resolution after its time.
    pub(crate) async fn delete_expired_metrics(&self, now: Timestamp) -> Result<(), StoreError> {
        use app_metrics::Column;
        for resolution in Resolution::ALL {
            let expired = app_metrics::Entity::find()
                .filter(Column::Resolution.eq(DbNumber(resolution)))
                .filter(Column::At.lt(DbTime(now - resolution.retention())));
            self.delete_in_chunks(expired).await?;
        }
        Ok(())
    }

    /// Deletes deliveries that were received before a time. Ids have that time in them, and no other index of it is
    /// needed.
    async fn delete_expired_deliveries(&self, before: Timestamp) -> Result<(), StoreError> {
        use deliveries::Column;
        let expired =
            deliveries::Entity::find().filter(Column::Id.lt(min_uuid_v7_at(before))).order_by_asc(Column::Id);
        self.delete_in_chunks(expired).await
    }

    /// Deletes deliveries of notifications that were planned before a time, which their ids have in them.
    async fn delete_expired_notification_deliveries(&self, before: Timestamp) -> Result<(), StoreError> {
        use notification_deliveries::Column;
        let expired = notification_deliveries::Entity::find()
            .filter(Column::Id.lt(min_uuid_v7_at(before)))
            .order_by_asc(Column::Id);
        self.delete_in_chunks(expired).await
    }

    /// Deletes registered clients that nobody lets in.
    async fn delete_unused_oauth_clients(&self, now: Timestamp) -> Result<(), StoreError> {
        use oauth_clients::Column;
        let client = (oauth_clients::Entity, Column::ClientId);
        let grants = oauth_grants::Entity::find()
            .filter(Expr::col((oauth_grants::Entity, oauth_grants::Column::ClientId)).equals(client))
            .filter(oauth_grants::Column::RevokedAt.is_null())
            .filter(oauth_grants::Column::ExpiresAt.gt(DbTime(now)))
            .select_only()
            .expr(literal(1))
            .into_query();
        let unused = oauth_clients::Entity::find()
            .filter(Column::CreatedAt.lte(DbTime(now - UNUSED_CLIENT_RETENTION)))
            .filter(Expr::exists(grants).not());
        self.delete_in_chunks(unused).await
    }
}
