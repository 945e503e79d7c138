//! Reading a workspace's feed.

use ::observability::feed::{EventFeed, EventListener, FeedEvent, FeedPage, FeedQuery, RunOrigin, Topic};
use ::runs::webhooks::OWNER_FIXABLE_REFUSALS;
use async_trait::async_trait;
use kernel::{Id, StoreError, authority::Visibility, id::WorkspaceId};
use uuid::Uuid;

use super::{kind, parse_event_kind};
use crate::{
    Store,
    convert::RowContext,
    sql::{Sql, SqlRow, column},
};

/// How many numbers one look passes at most: what a reader may not see, or did not ask for, costs no more than this.
const MAX_SCANNED: i64 = 5_000;

#[async_trait]
impl EventFeed for Store {
    async fn feed(
        &self,
        workspace: WorkspaceId,
        visible: Visibility,
        query: FeedQuery,
    ) -> Result<FeedPage, StoreError> {
        let after = i64::try_from(query.after).unwrap_or(i64::MAX);
        let end = after.saturating_add(MAX_SCANNED);
        // One statement sees one moment: where the feed begins and ends belongs to what was found.
        let mut sql = Sql::new(
            "WITH feed AS MATERIALIZED (SELECT seq AS head, (SELECT min(seq) FROM workspace_events WHERE \
             workspace_id = ",
        );
        sql.bind(workspace.uuid()).push(") AS oldest FROM workspace_feeds WHERE workspace_id = ");
        sql.bind(workspace.uuid()).push(
            "), found AS (SELECT seq, at, kind, app_id, run_id, code, data FROM workspace_events WHERE workspace_id = ",
        );
        sql.bind(workspace.uuid()).push(" AND seq > ").bind(after).push(" AND seq <= ").bind(end);
        push_topic(&mut sql, query.topic);
        push_visible(&mut sql, workspace, visible);
        sql.push(" ORDER BY seq LIMIT ").bind(i64::from(query.limit));
        sql.push(
            ") SELECT feed.head, feed.oldest, found.seq, found.at, found.kind, found.app_id, found.run_id, found.code, \
             found.data, p.name, r.automation_id, r.trigger_kind, r.asked_by_agent FROM feed LEFT JOIN found ON 1 = 1 \
             LEFT JOIN apps p ON p.id = found.app_id LEFT JOIN runs r ON r.id = found.run_id ORDER BY found.seq",
        );
        let rows = sql.fetch_all(self.read()).await?;
        let row = RowContext { table: "workspace_events", id: workspace.uuid() };
        let Some(first) = rows.first() else {
            // Nothing has happened yet.
            return Ok(FeedPage { events: Vec::new(), cursor: 0, head: 0, has_gap: after > 0 });
        };
        let head: i64 = column(first, 0)?;
        let oldest = column::<Option<i64>>(first, 1)?.unwrap_or(head.saturating_add(1));
        if after > head || oldest > after.saturating_add(1) {
            let cursor = row.number((oldest - 1).min(head))?;
            return Ok(FeedPage { events: Vec::new(), cursor, head: row.number(head)?, has_gap: true });
        }
        let found = rows.iter().filter(|found| !matches!(column::<Option<i64>>(found, 2), Ok(None)));
        let events = found.map(|found| feed_event(row, found)).collect::<Result<Vec<_>, _>>()?;
        let cursor = match events.last() {
            Some(last) if events.len() >= query.limit as usize => last.seq,
            _ => row.number(end.min(head))?,
        };
        Ok(FeedPage { events, cursor, head: row.number(head)?, has_gap: false })
    }

    async fn feed_head(&self, workspace: WorkspaceId) -> Result<u64, StoreError> {
        let mut sql = Sql::new("SELECT seq FROM workspace_feeds WHERE workspace_id = ");
        sql.bind(workspace.uuid());
        let row = RowContext { table: "workspace_feeds", id: workspace.uuid() };
        match sql.fetch_optional(self.read()).await? {
            Some(found) => row.number(column(&found, 0)?),
            None => Ok(0),
        }
    }

    fn subscribe(&self, workspace: WorkspaceId) -> Box<dyn EventListener> {
        Box::new(self.inner().event_notifier.subscribe(workspace))
    }
}

fn push_topic(sql: &mut Sql, topic: Topic) {
    use kind::{
        APP_FAILING, AUTOMATION_FAILING, BLOCKED, CALL_REFUSAL, FAILED, GATE_REFUSAL, LOG, RETRIED,
        SUCCEEDED, WAITING,
    };
    match topic {
        Topic::All => {}
        Topic::Outcomes => {
            let kinds = [WAITING, SUCCEEDED, FAILED, BLOCKED, GATE_REFUSAL, APP_FAILING, AUTOMATION_FAILING];
            sql.push(" AND (kind IN (").bind_all(kinds).push(") OR (kind = ").bind(CALL_REFUSAL);
            sql.push(" AND code IN (").bind_all(OWNER_FIXABLE_REFUSALS).push(")))");
        }
        Topic::AppLog(app) => {
            sql.push(" AND app_id = ").bind(app.uuid()).push(" AND kind IN (");
            sql.bind_all([RETRIED, SUCCEEDED, FAILED, BLOCKED, LOG]).push(")");
        }
    }
}

/// The rule of [`crate::apps::visible_apps`], once more by hand.
fn push_visible(sql: &mut Sql, workspace: WorkspaceId, visible: Visibility) {
    let Visibility::Shared { user, sharing_levels: with } = visible else { return };
    sql.push(" AND app_id IN (SELECT id FROM apps WHERE workspace_id = ").bind(workspace.uuid());
    sql.push(" AND (created_by = ").bind(user.uuid()).push(" OR sharing IN (");
    sql.bind_all(with.iter().map(|sharing| sharing.as_str()));
    sql.push(") OR id IN (SELECT app_id FROM app_grants WHERE user_id = ").bind(user.uuid()).push(")))");
}

fn feed_event(row: RowContext, found: &SqlRow) -> Result<FeedEvent, StoreError> {
    let trigger: Option<String> = column(found, 11)?;
    let automation: Option<Uuid> = column(found, 10)?;
    let by_agent: Option<bool> = column(found, 12)?;
    let (code, data): (Option<String>, Option<String>) = (column(found, 7)?, column(found, 8)?);
    Ok(FeedEvent {
        seq: row.number(column(found, 2)?)?,
        at: row.timestamp(column(found, 3)?)?,
        app: Id::from_uuid(column(found, 5)?),
        app_name: column(found, 9)?,
        kind: parse_event_kind(row, column(found, 4)?, column(found, 6)?, code.as_deref(), data.as_deref())?,
        run_origin: trigger.map(|trigger| RunOrigin {
            automation: automation.map(Id::from_uuid),
            trigger,
            by_agent: by_agent.unwrap_or_default(),
        }),
    })
}
