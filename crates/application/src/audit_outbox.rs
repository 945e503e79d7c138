//! Audit rows of changes to the rows and tables of projects.
//!
//! Those are made in another store than the audit log. The row lies in the project's outbox, written in the transaction of
//! the change, until it stands in the audit log: whatever ends the process between the two, it is delivered later.
//! See `docs/decisions/0125-audit-rows-through-an-outbox.md`.

use backend_data::{
    Engine, ProjectRef,
    store::{OUTBOX_PAGE, OutboxEntry},
};
use kernel::{AuditEntry, Problem, StoreError};
use serde_json::json;

use crate::{Application, unit};

/// Why audit rows were not delivered.
#[derive(Debug, thiserror::Error)]
enum DeliveryError {
    #[error("the outbox of the project did not answer")]
    Outbox(#[from] backend_data::Error),
    #[error("the audit log could not be written")]
    Log(#[from] StoreError),
}

impl Application {
    /// The rows' engine, whose next change leaves these audit rows in the project's outbox. [`Application::deliver`] follows.
    pub fn audited_rows(&self, entries: impl IntoIterator<Item = AuditEntry>) -> Result<Engine, Problem> {
        let entry = |entry: AuditEntry| {
            let body = serde_json::to_string(&entry).map_err(Problem::internal)?;
            Ok(OutboxEntry { id: entry.id.to_string(), body })
        };
        let entries: Result<Vec<_>, Problem> = entries.into_iter().map(entry).collect();
        Ok(self.rows().with_outbox(entries?))
    }

    /// Moves the audit rows of a project from its outbox to the audit log. What cannot be moved now is moved by
    /// [`Application::deliver_outboxes`]: the change was made, and its caller is told so.
    pub async fn deliver_outbox(&self, project: &ProjectRef) {
        if let Err(error) = self.drain_outbox(project).await {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, project = %project.id, "audit rows of a project wait in its outbox");
        }
    }

    /// Moves the audit rows that changes left in outboxes, also those of a process that was killed.
    pub async fn deliver_outboxes(&self) {
        let projects = match self.rows().pending_outboxes().await {
            Ok(projects) => projects,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "outboxes of projects were not found"
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
                    // Of a newer release that is gone again. It must not keep the others back.
                    Err(error) => {
                        let error = &error as &dyn std::error::Error;
                        tracing::error!(error, entry = record.entry.body, "an audit row cannot be read");
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
