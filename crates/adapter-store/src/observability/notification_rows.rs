//! Inserts notifications, beside the events that they tell of.
//!
//! The group commit runs these statements on its own connection too, which is why they are text.

use std::collections::BTreeSet;

use ::observability::notifications::{Notification, NotificationSubject};
use kernel::{
    Id, StoreError, Timestamp,
    events::{Event, EventKind},
    id::RunId,
};
use uuid::Uuid;

use crate::{
    convert::millis,
    sql::{Sql, SqlExecutor},
};

/// Returns the hour of a time, in hours since 1970.
pub(super) fn hour_of(at: Timestamp) -> i64 {
    at.timestamp().div_euclid(3600)
}

/// Returns the object that a notification is about.
pub(super) fn subject_id(subject: &NotificationSubject) -> Uuid {
    match subject {
        NotificationSubject::App { app, .. } => app.uuid(),
        NotificationSubject::Automation { automation, .. } => automation.uuid(),
        NotificationSubject::Connection(connection) => connection.uuid(),
        NotificationSubject::Approval { approval, .. } => approval.uuid(),
    }
}

/// Inserts the notifications of events, whose numbers are `seqs`. An object that was told of in the same hour is counted
/// there.
pub(crate) async fn insert_notifications<D: SqlExecutor>(
    db: &D,
    events: &[Event],
    seqs: &[u64],
) -> Result<(), StoreError> {
    let of_failing_automations: BTreeSet<RunId> = events
        .iter()
        .filter_map(|event| match event.kind {
            EventKind::AutomationFailing { run, .. } => Some(run),
            _ => None,
        })
        .collect();
    for (event, seq) in events.iter().zip(seqs) {
        let told = Notification::of_event(event, *seq, |run| of_failing_automations.contains(&run));
        if let Some(notification) = told {
            insert_notification(db, &notification).await?;
        }
    }
    Ok(())
}

async fn insert_notification<D: SqlExecutor>(db: &D, notification: &Notification) -> Result<(), StoreError> {
    let subject = &notification.subject;
    let mut sql = Sql::new(
        "INSERT INTO notifications \
         (workspace_id, seq, at, kind, subject_id, app_id, run_id, code, hour, repeats, plan_due_at) VALUES (",
    );
    sql.bind(notification.workspace.uuid());
    sql.push(", ").bind(i64::try_from(notification.seq).unwrap_or(i64::MAX));
    sql.push(", ").bind(millis(notification.at));
    sql.push(", ").bind(subject.kind().as_str());
    sql.push(", ").bind(subject_id(subject));
    sql.push(", ").bind(subject.app().map(Id::uuid));
    sql.push(", ").bind(subject.run().map(Id::uuid));
    sql.push(", ").bind(notification.code.as_str());
    sql.push(", ").bind(hour_of(notification.at));
    // What is told in the console alone needs no plan.
    let plan_due_at = (!subject.is_in_app_only()).then(|| millis(notification.at));
    sql.push(", 0, ").bind(plan_due_at);
    sql.push(
        ") ON CONFLICT (workspace_id, hour, subject_id, kind) DO UPDATE SET repeats = notifications.repeats + 1",
    );
    sql.execute(db).await.map(drop)
}
