//! Inserts events. Their numbers are taken last in a transaction, so that their order is that of the commits.
//!
//! The group commit runs these statements on its own connection too, which is why they are text.
//! See `docs/decisions/0070-assign-event-numbers-at-commit.md`.

use std::collections::BTreeMap;

use kernel::{
    Id, StoreError,
    changes::Audience,
    events::{Event, EventKind},
    id::WorkspaceId,
};
use uuid::Uuid;

use super::columns::{AudienceColumns, EventColumns};
use crate::{
    convert::millis,
    error::inconsistent,
    observability::notification_rows::insert_notifications,
    sql::{Fields, Sql, SqlExecutor, column, insert_rows, statement_chunks_for},
};

/// Events with their numbers.
#[derive(Default)]
pub(crate) struct AppendedEvents {
    /// Numbers of the events, in their order.
    pub(crate) seqs: Vec<u64>,
    /// The workspaces whose subscribers are woken once this is committed.
    pub(crate) workspaces: Vec<WorkspaceId>,
}

/// Writes events, those of one workspace in the order given. Nothing that another transaction may wait for is locked
/// after this: whoever holds a workspace's counter only commits.
pub(crate) async fn append<D: SqlExecutor>(db: &D, events: &[Event]) -> Result<AppendedEvents, StoreError> {
    if events.is_empty() {
        return Ok(AppendedEvents::default());
    }
    // In the order of the ids: two that write for the same workspaces wait for each other one way only.
    let mut counts: BTreeMap<Uuid, i64> = BTreeMap::new();
    for event in events {
        *counts.entry(event.workspace.uuid()).or_default() += 1;
    }
    let counts: Vec<(Uuid, i64)> = counts.into_iter().collect();
    let mut next: BTreeMap<Uuid, i64> = BTreeMap::new();
    for counts in statement_chunks_for(db, &counts) {
        let mut sql = Sql::new("INSERT INTO workspace_feeds (workspace_id, seq) VALUES ");
        sql.push_values(counts, |sql, (workspace, count)| {
            sql.bind(*workspace).push(", ").bind(*count);
        });
        sql.push(
            " ON CONFLICT (workspace_id) DO UPDATE SET seq = workspace_feeds.seq + excluded.seq \
             RETURNING workspace_id, seq",
        );
        for row in sql.fetch_all(db).await? {
            next.insert(column(&row, 0)?, column(&row, 1)?);
        }
    }
    for (workspace, count) in &counts {
        let last = next.get_mut(workspace);
        let last = last.ok_or_else(|| inconsistent("workspace_feeds", *workspace, "it gave no number"))?;
        *last -= count;
    }
    let (mut seqs, mut of_apps, mut changes) = (Vec::with_capacity(events.len()), Vec::new(), Vec::new());
    let numbered: Vec<(&Event, i64, EventColumns<'_>)> = events
        .iter()
        .map(|event| {
            let seq = next.entry(event.workspace.uuid()).or_default();
            *seq += 1;
            Ok((event, *seq, EventColumns::from_event_kind(&event.kind)?))
        })
        .collect::<Result<_, StoreError>>()?;
    for (event, seq, columns) in &numbered {
        seqs.push(u64::try_from(*seq).unwrap_or_default());
        let fields = Fields::new()
            .with(event.workspace.uuid())
            .with(*seq)
            .with(millis(event.at))
            .with(columns.kind)
            .with(columns.run)
            .with(columns.code)
            .with(columns.data.as_deref());
        match (&event.audience, &event.kind) {
            // Without `app_id`, for programs that do not know changes.
            (audience, EventKind::Changed(_) | EventKind::ConnectorDown { .. }) => {
                let AudienceColumns { app, role, user } = audience.into();
                changes.push(fields.with(app).with(role).with(user));
            }
            (Audience::AppViewers(app), _) => of_apps.push(fields.with(app.uuid())),
            (Audience::Members(_) | Audience::Person { .. }, _) => {
                return Err(inconsistent(
                    "workspace_events",
                    event.workspace,
                    "only changes and alerts of connections are for roles",
                ));
            }
        }
    }
    let columns = "workspace_id, seq, at, kind, run_id, code, data, app_id";
    insert_rows(db, ("workspace_events", columns), of_apps).await?;
    insert_notifications(db, events, &seqs).await?;
    if !changes.is_empty() {
        let columns = "workspace_id, seq, at, kind, run_id, code, data, audience_app_id, audience_role, audience_user_id";
        insert_rows(db, ("workspace_events", columns), changes).await?;
    }
    Ok(AppendedEvents {
        seqs,
        workspaces: counts.into_iter().map(|(workspace, _)| Id::from_uuid(workspace)).collect(),
    })
}
