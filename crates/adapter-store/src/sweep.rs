//! Taking away what has expired, a little at a time.

use chrono::TimeDelta;
use kernel::{StoreError, Timestamp};
use observability::logs::KEEP_DAYS;

use crate::{Store, convert::millis, sql::Sql};

/// How long a webhook's deliveries are kept; its page shows the last ten.
const KEEP_DELIVERIES: TimeDelta = TimeDelta::days(30);
/// How long requests to the data API of backend projects are kept, single and counted.
const KEEP_REQUESTS: TimeDelta = TimeDelta::days(2);
/// How many rows one statement takes away, so that the writer is never held for long.
const PIECE: u64 = 500;
/// How many statements one sweep takes at most, of each kind.
const PIECES: usize = 20;

impl Store {
    /// Takes away expired webhook keys, sign-ins, sessions, lines of log and deliveries; what is left goes the next time.
    ///
    /// # Errors
    /// What the database said.
    pub async fn sweep(&self, now: Timestamp) -> Result<(), StoreError> {
        let oldest_line = now - TimeDelta::days(KEEP_DAYS.into());
        let expired = [
            ("webhook_keys", "(webhook_id, digest)", "webhook_id, digest", "expires_at", now),
            ("sign_ins", "email", "email", "expires_at", now),
            ("sessions", "id", "id", "expires_at", now),
            ("log_lines", "id", "id", "at", oldest_line),
            ("deliveries", "id", "id", "received_at", now - KEEP_DELIVERIES),
            ("project_requests", "id", "id", "at", now - KEEP_REQUESTS),
            (
                "project_minutes",
                "(project_id, at, bucket)",
                "project_id, at, bucket",
                "at",
                now - KEEP_REQUESTS,
            ),
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
                if sql.execute(self.write()).await?.rows_affected() < PIECE {
                    break;
                }
            }
        }
        self.sweep_changes().await
    }
}
