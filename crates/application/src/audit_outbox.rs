//! Audit entries about changes to rows and tables of projects.
//!
//! Rows are in another store than the audit log. A change writes its audit entry to the project's outbox in its own
//! transaction; the entry stays there until it is in the audit log, so it is delivered even if the process ends in
//! between.
//! See `docs/decisions/0125-audit-rows-through-an-outbox.md`.

use backend_data::{
    Engine, ProjectRef,
    store::{OUTBOX_PAGE, OutboxEntry},
};
use kernel::{AuditEntry, StoreError};
use serde_json::json;

use crate::{Application, Problem, unit};

/// Reason why audit entries were not delivered.
#[derive(Debug, thiserror::Error)]
enum DeliveryError {
    #[error("the outbox of the project could not be read or cleared")]
    Outbox(#[from] backend_data::Error),
    #[error("the audit log could not be written")]
    Log(#[from] StoreError),
}

impl Application {
    /// Returns a row engine whose next change writes these audit entries to the project's outbox. Call
    /// [`Application::deliver_outbox`] after the change.
    ///
    /// # Errors
    /// 500 `internal` if an entry cannot be serialized.
    pub fn audited_rows(&self, entries: impl IntoIterator<Item = AuditEntry>) -> Result<Engine, Problem> {
        let entry = |entry: AuditEntry| {
            let body = serde_json::to_string(&entry).map_err(Problem::internal)?;
            Ok(OutboxEntry { id: entry.id.to_string(), body })
        };
        let entries: Result<Vec<_>, Problem> = entries.into_iter().map(entry).collect();
        Ok(self.rows().with_outbox(entries?))
    }

    /// Moves audit entries from a project's outbox to the audit log. Errors are logged and not returned, because the
    /// change itself succeeded; [`Application::deliver_outboxes`] tries again.
    pub async fn deliver_outbox(&self, project: &ProjectRef) {
        if let Err(error) = self.drain_outbox(project).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, project = %project.id, "audit entries stay in the project's outbox");
        }
    }

    /// Moves all audit entries left in outboxes, including those of processes that were killed, to the audit log.
    pub async fn deliver_outboxes(&self) {
        let projects = match self.rows().pending_outboxes().await {
            Ok(projects) => projects,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "could not list the outboxes with audit entries"
                );
                return;
            }
        };
        for project in projects {
            self.deliver_outbox(&project).await;
        }
    }

    async fn drain_outbox(&self, project: &ProjectRef) -> Result<(), DeliveryError> {
        let rows = self.rows();
        loop {
            let records = rows.read_outbox(project).await?;
            if records.is_empty() {
                return Ok(());
            }
            let page = records.len();
            let (mut entries, mut ids) = (Vec::with_capacity(page), Vec::with_capacity(page));
            for record in records {
                match serde_json::from_str::<AuditEntry>(&record.entry.body) {
                    Ok(mut entry) => {
                        if let (Some(rows), Some(detail)) = (record.rows, &mut entry.detail)
                            && detail.is_object()
                        {
                            detail["rows"] = json!(rows);
                        }
                        entries.push(entry);
                    }
                    // Written by a newer release that was rolled back. It must not hold back the others.
                    Err(error) => {
                        let error = &error as &dyn std::error::Error;
                        tracing::error!(
                            error,
                            entry = record.entry.body,
                            "audit entry is not readable; removed from the outbox"
                        );
                    }
                }
                ids.push(record.entry.id);
            }
            self.transaction(unit!(|tx| {
                entries.iter().cloned().for_each(|entry| tx.audit(entry));
                Ok::<_, StoreError>(())
            }))
            .await?;
            rows.clear_outbox(project, ids).await?;
            if page < OUTBOX_PAGE {
                return Ok(());
            }
        }
    }
}
