//! Taking away what has expired, a little at a time.

use chrono::TimeDelta;
use kernel::{StoreError, Timestamp};
use observability::logs::KEEP_DAYS;

use crate::{
    Store,
    convert::{first_id_at, millis},
    sql::Sql,
};

/// How long a webhook's deliveries are kept; its page shows the last ten.
const KEEP_DELIVERIES: TimeDelta = TimeDelta::days(30);
/// How long the moments of schedules are kept.
const KEEP_OCCURRENCES: TimeDelta = TimeDelta::days(90);
/// How long the questions of runs are kept; they wait for a week at most.
const KEEP_APPROVALS: TimeDelta = TimeDelta::days(90);
/// How long a planned change is kept after it expired, so that its owner can still see what it was.
const KEEP_CHANGES: TimeDelta = TimeDelta::days(7);
/// How long requests to the data API of backend projects are kept, single and counted.
const KEEP_REQUESTS: TimeDelta = TimeDelta::days(2);
/// How long an agent client's question is kept after it is over, so that a code that comes again is noticed.
const KEEP_CODES: TimeDelta = TimeDelta::days(1);
/// How long a refresh token is kept after it was spent, so that one that comes again is noticed.
const KEEP_SPENT: TimeDelta = TimeDelta::days(30);
/// How long an agent client stays registered that nobody lets in.
const KEEP_CLIENTS: TimeDelta = TimeDelta::days(7);
/// How long a device login that is over can still be seen to be so.
const KEEP_DEVICE_LOGINS: TimeDelta = TimeDelta::minutes(10);
/// How long an invite is kept after it expired, or would have.
const KEEP_INVITES: TimeDelta = TimeDelta::days(90);
/// How long it is known how much log an app left on a day.
const KEEP_VOLUMES: TimeDelta = TimeDelta::days(2);
/// How many rows one statement takes away, so that the writer is never held for long.
const PIECE: u64 = 500;
/// How many statements one sweep takes at most, of each kind.
const PIECES: usize = 20;

impl Store {
    /// Takes away expired webhook keys, sign-ins, sessions, device logins, invites, lines of log, events, deliveries,
    /// moments of schedules, finished runs, dead letters, and what agent clients left behind; what is left goes the next
    /// time.
    ///
    /// # Errors
    /// What the database said.
    pub async fn sweep(&self, now: Timestamp) -> Result<(), StoreError> {
        let oldest_line = now - TimeDelta::days(KEEP_DAYS.into());
        let expired = [
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
            ("device_logins", "id", "id", "expires_at", now - KEEP_DEVICE_LOGINS),
            ("passkey_ceremonies", "id", "id", "expires_at", now),
            ("log_lines", "id", "id", "at", oldest_line),
            ("app_log_volume", "(app_id, day)", "app_id, day", "day", now - KEEP_VOLUMES),
            ("invites", "id", "id", "expires_at", now - KEEP_INVITES),
            ("occurrences", "id", "id", "recorded_at", now - KEEP_OCCURRENCES),
            ("approvals", "id", "id", "created_at", now - KEEP_APPROVALS),
            ("app_changes", "id", "id", "expires_at", now - KEEP_CHANGES),
            ("project_requests", "id", "id", "at", now - KEEP_REQUESTS),
            (
                "project_minutes",
                "(project_id, at, bucket)",
                "project_id, at, bucket",
                "at",
                now - KEEP_REQUESTS,
            ),
            ("oauth_authorizations", "id", "id", "expires_at", now - KEEP_CODES),
            ("oauth_access_tokens", "id", "id", "expires_at", now),
            ("oauth_refresh_tokens", "id", "id", "spent_at", now - KEEP_SPENT),
        ];
        for (table, key, columns, moment, before) in expired {
            for _ in 0..PIECES {
                let mut sql = Sql::new("DELETE FROM ");
                sql.push(table)
                    .push(" WHERE ")
                    .push(key)
                    .push(" IN (SELECT ")
                    .push(columns)
                    .push(" FROM ")
                    .push(table);
                sql.push(" WHERE ")
                    .push(moment)
                    .push(" <= ")
                    .bind(millis(before))
                    .push(" LIMIT ")
                    .push(&PIECE.to_string());
                sql.push(")");
                if sql.execute(&self.write()).await? < PIECE {
                    break;
                }
            }
        }
        self.sweep_deliveries(now - KEEP_DELIVERIES).await?;
        self.expire_approvals(now).await?;
        self.sweep_runs(now).await?;
        self.sweep_letters(now).await?;
        self.sweep_oauth_clients(now).await?;
        self.sweep_events(now).await?;
        self.sweep_changes().await
    }

    /// Takes away what was received before a moment. Ids have that moment in them, and no other index of it is needed.
    async fn sweep_deliveries(&self, before: Timestamp) -> Result<(), StoreError> {
        let first = first_id_at(before);
        for _ in 0..PIECES {
            let mut sql =
                Sql::new("DELETE FROM deliveries WHERE id IN (SELECT id FROM deliveries WHERE id < ");
            sql.bind(first).push(" ORDER BY id LIMIT ").push(&PIECE.to_string()).push(")");
            if sql.execute(&self.write()).await? < PIECE {
                break;
            }
        }
        Ok(())
    }

    /// Takes away registered clients that nobody lets in.
    async fn sweep_oauth_clients(&self, now: Timestamp) -> Result<(), StoreError> {
        let mut sql = Sql::new(
            "DELETE FROM oauth_clients WHERE id IN (SELECT id FROM oauth_clients WHERE created_at <= ",
        );
        sql.bind(millis(now - KEEP_CLIENTS)).push(
            " AND NOT EXISTS (SELECT 1 FROM oauth_grants WHERE oauth_grants.client_id = oauth_clients.client_id \
             AND oauth_grants.revoked_at IS NULL AND oauth_grants.expires_at > ",
        );
        sql.bind(millis(now)).push(") LIMIT ").push(&(PIECE * PIECES as u64).to_string()).push(")");
        sql.execute(&self.write()).await.map(drop)
    }
}
