//! The audit log, as it is read.

use ::workspace::audit_log::{AuditFilter, AuditRead, AuditRecord};
use async_trait::async_trait;
use kernel::{Id, StoreError, id::WorkspaceId, page::PageRequest};

use crate::{
    Store,
    convert::RowContext,
    sql::{Sql, SqlRow, column},
};

fn record(found: &SqlRow) -> Result<AuditRecord, StoreError> {
    let row = RowContext { table: "audit_log", id: column(found, 0)? };
    let detail: Option<String> = column(found, 7)?;
    Ok(AuditRecord {
        id: Id::from_uuid(row.id),
        at: row.timestamp(column(found, 1)?)?,
        actor: column(found, 2)?,
        action: column(found, 3)?,
        target: column(found, 4)?,
        request: Id::from_uuid(column(found, 5)?),
        address: column(found, 6)?,
        detail: detail.map(|text| row.json(&text)).transpose()?,
    })
}

#[async_trait]
impl AuditRead for Store {
    async fn audit_records(
        &self,
        workspace: WorkspaceId,
        filter: &AuditFilter,
        page: PageRequest,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        let mut sql = Sql::new(
            "SELECT id, at, actor, action, target, request_id, address, detail FROM audit_log WHERE workspace_id = ",
        );
        sql.bind(workspace.uuid());
        if let Some(action) = &filter.action {
            sql.push(" AND action = ").bind(action.as_str());
        }
        if let Some(actor) = filter.actor {
            // A person's own acts, and those of their tokens. The underscore of an id stands for itself too.
            sql.push(" AND (actor = ").bind(actor.to_string());
            sql.push(" OR actor LIKE ").bind(format!("{actor} by %")).push(")");
        }
        if let Some(after) = page.after {
            sql.push(" AND id < ").bind(after);
        }
        sql.push(" ORDER BY id DESC LIMIT ").bind(i64::from(page.limit) + 1);
        sql.fetch_all(self.read()).await?.iter().map(record).collect()
    }
}
