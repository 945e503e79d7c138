//! Taking away what has expired, a little at a time.

use chrono::TimeDelta;
use kernel::{StoreError, Timestamp};
use observability::logs::RETENTION_DAYS;

use crate::{
    Store,
    convert::{millis, min_uuid_v7_at},
    sql::Sql,
};

/// How long a webhook's deliveries are kept; its page shows the last ten.
const DELIVERY_RETENTION: TimeDelta = TimeDelta::days(30);
/// How long the moments of schedules are kept.
const OCCURRENCE_RETENTION: TimeDelta = TimeDelta::days(90);
/// How long the questions of runs are kept; they wait for a week at most.
const APPROVAL_RETENTION: TimeDelta = TimeDelta::days(90);
/// How long a planned change is kept after it expired, so that its owner can still see what it was.
const PLANNED_CHANGE_RETENTION: TimeDelta = TimeDelta::days(7);
/// How long requests to the data API of backend projects are kept, single and counted.
const PROJECT_REQUEST_RETENTION: TimeDelta = TimeDelta::days(2);
/// How long an agent client's question is kept after it is over, so that a code that comes again is noticed.
const AUTHORIZATION_RETENTION: TimeDelta = TimeDelta::days(1);
/// How long a refresh token is kept after it was spent, so that one that comes again is noticed.
const SPENT_REFRESH_TOKEN_RETENTION: TimeDelta = TimeDelta::days(30);
/// How long an agent client stays registered that nobody lets in.
const UNUSED_CLIENT_RETENTION: TimeDelta = TimeDelta::days(7);
/// How long a device login that is over can still be seen to be so.
const DEVICE_LOGIN_RETENTION: TimeDelta = TimeDelta::minutes(10);
/// How long an invite is kept after it expired, or would have.
const INVITE_RETENTION: TimeDelta = TimeDelta::days(90);
/// How long it is known how much log an app left on a day.
const LOG_VOLUME_RETENTION: TimeDelta = TimeDelta::days(2);
/// How many rows one statement takes away, so that the writer is never held for long.
const CHUNK_ROWS: u64 = 500;
/// How many statements one sweep takes at most, of each kind.
const MAX_CHUNKS: usize = 20;

impl Store {
    /// Takes away expired webhook keys, sign-ins, sessions, device logins, invites, lines of log, events, deliveries,
    /// moments of schedules, finished runs, dead letters, and what agent clients left behind; what is left goes the next
    /// time.
    ///
    /// # Errors
    /// What the database said.
    pub async fn delete_expired(&self, now: Timestamp) -> Result<(), StoreError> {
        let oldest_line = now - TimeDelta::days(RETENTION_DAYS.into());
        let retention_rules = [
            ("webhook_keys", "(webhook_id, digest)", "webhook_id, digest", "expires_at", now),
            (
                "repeat_signatures",
                "(expires_at, webhook_id, signature)",
                "expires_at, webhook_id, signature",
                "expires_at",
                now,
            ),
            ("sign_ins", "email", "email", "expires_at", now),
            ("sessions", "id", "id", "expires_at", now),
            ("device_logins", "id", "id", "expires_at", now - DEVICE_LOGIN_RETENTION),
            ("passkey_ceremonies", "id", "id", "expires_at", now),
            ("log_lines", "id", "id", "at", oldest_line),
            ("app_log_volume", "(app_id, day)", "app_id, day", "day", now - LOG_VOLUME_RETENTION),
            ("invites", "id", "id", "expires_at", now - INVITE_RETENTION),
            ("occurrences", "id", "id", "recorded_at", now - OCCURRENCE_RETENTION),
            ("approvals", "id", "id", "created_at", now - APPROVAL_RETENTION),
            ("app_changes", "id", "id", "expires_at", now - PLANNED_CHANGE_RETENTION),
            ("project_requests", "id", "id", "at", now - PROJECT_REQUEST_RETENTION),
            (
                "project_minutes",
                "(project_id, at, bucket)",
                "project_id, at, bucket",
                "at",
                now - PROJECT_REQUEST_RETENTION,
            ),
            ("oauth_authorizations", "id", "id", "expires_at", now - AUTHORIZATION_RETENTION),
            ("oauth_access_tokens", "id", "id", "expires_at", now),
            ("oauth_refresh_tokens", "id", "id", "spent_at", now - SPENT_REFRESH_TOKEN_RETENTION),
        ];
        for (table, key, columns, time_column, before) in retention_rules {
            for _ in 0..MAX_CHUNKS {
                let mut sql = Sql::new("DELETE FROM ");
                sql.push(table)
                    .push(" WHERE ")
                    .push(key)
                    .push(" IN (SELECT ")
                    .push(columns)
                    .push(" FROM ")
                    .push(table);
                sql.push(" WHERE ")
                    .push(time_column)
                    .push(" <= ")
                    .bind(millis(before))
                    .push(" LIMIT ")
                    .push(&CHUNK_ROWS.to_string());
                sql.push(")");
                if sql.execute(&self.write()).await? < CHUNK_ROWS {
                    break;
                }
            }
        }
        self.delete_expired_deliveries(now - DELIVERY_RETENTION).await?;
        self.expire_approvals(now).await?;
        self.delete_expired_runs(now).await?;
        self.delete_expired_dead_letters(now).await?;
        self.delete_unused_oauth_clients(now).await?;
        self.delete_expired_events(now).await?;
        self.delete_old_caller_changes().await
    }

    /// Takes away what was received before a moment. Ids have that moment in them, and no other index of it is needed.
    async fn delete_expired_deliveries(&self, before: Timestamp) -> Result<(), StoreError> {
        let first = min_uuid_v7_at(before);
        for _ in 0..MAX_CHUNKS {
            let mut sql =
                Sql::new("DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE id < ");
            sql.bind(first).push(" ORDER BY id LIMIT ").push(&CHUNK_ROWS.to_string()).push(")");
            if sql.execute(&self.write()).await? < CHUNK_ROWS {
                break;
            }
        }
        Ok(())
    }

    /// Takes away registered clients that nobody lets in.
    async fn delete_unused_oauth_clients(&self, now: Timestamp) -> Result<(), StoreError> {
        let mut sql = Sql::new(
            "DELETE FROM oauth_clients WHERE id IN (SELECT id FROM oauth_clients WHERE created_at <= ",
        );
        sql.bind(millis(now - UNUSED_CLIENT_RETENTION)).push(
            " AND NOT EXISTS (SELECT 1 FROM oauth_grants WHERE oauth_grants.client_id = oauth_clients.client_id \
             AND oauth_grants.revoked_at IS NULL AND oauth_grants.expires_at > ",
        );
        sql.bind(millis(now)).push(") LIMIT ").push(&(CHUNK_ROWS * MAX_CHUNKS as u64).to_string()).push(")");
        sql.execute(&self.write()).await.map(drop)
    }
}
