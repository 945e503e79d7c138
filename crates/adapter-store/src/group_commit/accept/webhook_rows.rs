//! The rows of a batch's webhooks, as the database has them now.

use std::collections::{BTreeSet, HashMap};

use kernel::{Id, ShareId, StoreError, id::HookId};
use runs::webhooks::{AcceptCall, RevisionVector};
use sea_orm::DbBackend;
use uuid::Uuid;

use crate::sql::{Sql, SqlExecutor, column, statement_chunks_for};

/// State of a webhook at this moment.
pub(crate) struct WebhookRow {
    pub(crate) revisions: RevisionVector,
    pub(crate) version: Option<Uuid>,
    pub(crate) retries: u8,
    pub(crate) share: ShareId,
}

/// Loads them. On PostgreSQL their automations cannot be deleted until the batch is committed.
pub(super) async fn load_webhook_rows<D: SqlExecutor>(
    db: &D,
    batch: &[&AcceptCall],
) -> Result<HashMap<HookId, WebhookRow>, StoreError> {
    let hooks: BTreeSet<Uuid> = batch.iter().map(|acceptance| acceptance.hook.uuid()).collect();
    let hooks: Vec<Uuid> = hooks.into_iter().collect();
    let mut webhook_rows = HashMap::new();
    for hooks in statement_chunks_for(db, &hooks) {
        let mut sql = Sql::new(
            "SELECT h.id, h.revision, a.revision, p.revision, w.revision, p.current_version_id, a.retries, w.created_by, w.id FROM webhooks h \
             JOIN automations a ON a.id = h.automation_id JOIN apps p ON p.id = a.app_id \
             JOIN workspaces w ON w.id = h.workspace_id WHERE h.id IN (",
        );
        sql.bind_all(hooks.iter().copied()).push(")");
        if db.backend() == DbBackend::Postgres {
            // Until the batch is committed nobody deletes the automation: whoever does finds its runs in the queue.
            sql.push(" ORDER BY a.id FOR KEY SHARE OF a");
        }
        for row in sql.fetch_all(db).await? {
            let revisions =
                RevisionVector([column(&row, 1)?, column(&row, 2)?, column(&row, 3)?, column(&row, 4)?]);
            let retries = column::<i16>(&row, 6)?.try_into().unwrap_or_default();
            let creator = column::<Option<Uuid>>(&row, 7)?.map(Id::from_uuid);
            let share = ShareId::of(creator, Id::from_uuid(column(&row, 8)?));
            let webhook_row = WebhookRow { revisions, version: column(&row, 5)?, retries, share };
            webhook_rows.insert(Id::from_uuid(column(&row, 0)?), webhook_row);
        }
    }
    Ok(webhook_rows)
}
