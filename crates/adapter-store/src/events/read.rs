//! Reading a workspace's feed.

use ::observability::feed::{EventFeed, EventListener, FeedEvent, FeedPage, FeedQuery, RunOrigin, Topic};
use ::runs::webhooks::OWNER_FIXABLE_REFUSALS;
use async_trait::async_trait;
use kernel::{
    StoreError,
    authority::Visibility,
    id::{WorkspaceId, kind as kind_of},
};
use sea_orm::{EntityTrait as _, FromQueryResult};

use super::columns::{kind, parse_event_kind};
use crate::{
    convert::RowContext,
    entity::{
        column::{DbId, DbTime},
        workspace_feeds,
    },
    error::OrStoreError as _,
    sql::Sql,
    store::Store,
};

/// Events that one read passes; at most. What a reader may not see, or did not ask for, costs no more than this.
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
        // By hand: one list names the columns of another. One statement sees one moment: where the feed begins and ends belongs to what was found.
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
             found.data, p.name AS app_name, r.automation_id, r.trigger_kind, r.asked_by_agent FROM feed LEFT JOIN found ON 1 = 1 \
             LEFT JOIN apps p ON p.id = found.app_id LEFT JOIN runs r ON r.id = found.run_id ORDER BY found.seq",
        );
        let rows: Vec<FeedRow> = sql.fetch_models(self.read()).await?;
        let row = RowContext::new("workspace_events", workspace);
        let Some(first) = rows.first() else {
            // Nothing has happened yet.
            return Ok(FeedPage { events: Vec::new(), cursor: 0, head: 0, has_gap: after > 0 });
        };
        let head = first.head;
        let oldest = first.oldest.unwrap_or(head.saturating_add(1));
        if after > head || oldest > after.saturating_add(1) {
            let cursor = row.number((oldest - 1).min(head))?;
            return Ok(FeedPage { events: Vec::new(), cursor, head: row.number(head)?, has_gap: true });
        }
        let events = rows.into_iter().filter_map(|found| feed_event(row, found).transpose());
        let events = events.collect::<Result<Vec<_>, _>>()?;
        let cursor = match events.last() {
            Some(last) if events.len() >= query.limit as usize => last.seq,
            _ => row.number(end.min(head))?,
        };
        Ok(FeedPage { events, cursor, head: row.number(head)?, has_gap: false })
    }

    async fn feed_head(&self, workspace: WorkspaceId) -> Result<u64, StoreError> {
        let found = workspace_feeds::Entity::find_by_id(workspace).one(self.read()).await.or_store_error()?;
        let row = RowContext::new("workspace_feeds", workspace);
        found.map_or(Ok(0), |feed| row.number(feed.seq))
    }

    fn subscribe(&self, workspace: WorkspaceId) -> Box<dyn EventListener> {
        Box::new(self.inner().after_commit.event_notifier.subscribe(workspace))
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

/// Adds the condition of `apps::visibility`, in text.
fn push_visible(sql: &mut Sql, workspace: WorkspaceId, visible: Visibility) {
    let Visibility::Shared { user, sharing_levels: with } = visible else { return };
    sql.push(" AND app_id IN (SELECT id FROM apps WHERE workspace_id = ").bind(workspace.uuid());
    sql.push(" AND (created_by = ").bind(user.uuid()).push(" OR sharing IN (");
    sql.bind_all(with.iter().map(|sharing| sharing.as_str()));
    sql.push(") OR id IN (SELECT app_id FROM app_grants WHERE user_id = ").bind(user.uuid()).push(")))");
}

/// An event of a feed beside where the feed begins and ends; a feed that has nothing to show gives one row without an event.
#[derive(FromQueryResult)]
struct FeedRow {
    head: i64,
    oldest: Option<i64>,
    seq: Option<i64>,
    at: Option<DbTime>,
    kind: Option<i16>,
    app_id: Option<DbId<kind_of::App>>,
    run_id: Option<DbId<kind_of::Run>>,
    code: Option<String>,
    data: Option<String>,
    app_name: Option<String>,
    automation_id: Option<DbId<kind_of::Automation>>,
    trigger_kind: Option<String>,
    asked_by_agent: Option<bool>,
}

/// Returns the event of a row, if it has one.
fn feed_event(row: RowContext, found: FeedRow) -> Result<Option<FeedEvent>, StoreError> {
    let (Some(seq), Some(at), Some(kind), Some(app)) = (found.seq, found.at, found.kind, found.app_id) else {
        return Ok(None);
    };
    let (code, data) = (found.code.as_deref(), found.data.as_deref());
    Ok(Some(FeedEvent {
        seq: row.number(seq)?,
        at: at.0,
        app: app.0,
        app_name: found.app_name,
        kind: parse_event_kind(row, kind, found.run_id.map(|run| run.0.uuid()), code, data)?,
        run_origin: found.trigger_kind.map(|trigger| RunOrigin {
            automation: found.automation_id.map(DbId::into_inner),
            trigger,
            by_agent: found.asked_by_agent.unwrap_or_default(),
        }),
    }))
}
