//! Audit entries of operations: tests of webhooks by people.

use kernel::{AuditEntry, Id, StoreError};

use crate::{
    convert::millis,
    sql::{Sql, SqlExecutor},
};

/// Writes rows, of which there are few.
pub(super) async fn insert<'e, D: SqlExecutor>(
    db: &D,
    entries: impl Iterator<Item = &'e AuditEntry>,
) -> Result<(), StoreError> {
    for entry in entries {
        let mut sql = Sql::new(
            "INSERT INTO audit_log (id, at, workspace_id, actor, action, target, request_id, address, detail, app_id) VALUES (",
        );
        sql.bind(entry.id.uuid()).push(", ").bind(millis(entry.at)).push(", ");
        sql.bind(entry.workspace.map(Id::uuid)).push(", ").bind(entry.actor.to_string()).push(", ");
        sql.bind(&*entry.action)
            .push(", ")
            .bind(entry.target.as_ref().map(|target| target.0.clone()))
            .push(", ");
        sql.bind(entry.request.uuid()).push(", ").bind(entry.address.map(|address| address.to_string()));
        sql.push(", ").bind(entry.detail.as_ref().map(ToString::to_string));
        sql.push(", ").bind(entry.changed_app().map(Id::uuid)).push(")");
        sql.execute(db).await?;
    }
    Ok(())
}
