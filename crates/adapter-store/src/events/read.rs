//! Reads of a workspace's feed.

use ::observability::feed::{EventFeed, EventListener, FeedEvent, FeedPage, FeedQuery, RunOrigin, Topic};
use ::runs::webhooks::OWNER_FIXABLE_REFUSALS;
use async_trait::async_trait;
use kernel::{
    StoreError,
    authority::Member,
    events::EventKind,
    id::{WorkspaceId, kind as kind_of},
};
use sea_orm::{
    ColumnTrait as _, Condition, EntityTrait as _, FromQueryResult, JoinType, Order, QueryFilter as _,
    QueryOrder as _, QuerySelect as _, QueryTrait as _,
    sea_query::{CommonTableExpression, Expr, ExprTrait as _, Func, Query, SelectStatement, WithClause},
};

use super::columns::{kind, parse_event_kind, role_number};
use crate::{
    apps::viewable_app_ids,
    convert::RowContext,
    entity::{
        apps,
        column::{DbId, DbTime},
        runs, workspace_events, workspace_feeds,
    },
    error::OrStoreError as _,
    query::{self, literal},
    store::Store,
};

/// Events that one read passes; at most. What a reader may not see, or did not ask for, costs no more than this.
const MAX_SCANNED: i64 = 5_000;

#[span_macros::traced]
#[async_trait]
impl EventFeed for Store {
    async fn feed(&self, reader: &Member, query: FeedQuery) -> Result<FeedPage, StoreError> {
        let workspace = reader.workspace();
        let after = i64::try_from(query.after).unwrap_or(i64::MAX);
        let end = after.saturating_add(MAX_SCANNED);
        let page = feed_page(reader, &query, (after, end));
        let rows: Vec<FeedRow> = query::fetch_all(&page, self.read()).await?;
        let row = RowContext::new("workspace_events", workspace);
        let Some(first) = rows.first() else {
            // Nothing has happened yet.
            return Ok(FeedPage { events: Vec::new(), cursor: 0, head: 0, has_gap: after > 0 });
        };
        let head = first.head;
        let oldest = first.oldest.unwrap_or(head.saturating_add(1));
        if after > head || oldest > after.saturating_add(1) {
            let cursor = row.number(Ord::min(oldest - 1, head))?;
            return Ok(FeedPage { events: Vec::new(), cursor, head: row.number(head)?, has_gap: true });
        }
        let events = rows.into_iter().filter_map(|found| feed_event(row, found).transpose());
        let events = events.collect::<Result<Vec<_>, _>>()?;
        let cursor = match events.last() {
            Some(last) if events.len() >= query.limit as usize => last.seq,
            _ => row.number(Ord::min(end, head))?,
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

/// Selects events after `after` and up to `end`, beside where the feed begins and ends. One statement sees one state of
/// the database, so that these belong to what is found.
fn feed_page(reader: &Member, query: &FeedQuery, (after, end): (i64, i64)) -> SelectStatement {
    use workspace_events::Column;
    let workspace = reader.workspace();
    let events = || workspace_events::Entity::find().filter(Column::WorkspaceId.eq(DbId(workspace)));
    let oldest = events().select_only().expr(Column::Seq.min()).into_query();
    let feed = workspace_feeds::Entity::find_by_id(workspace)
        .select_only()
        .column_as(workspace_feeds::Column::Seq, "head")
        .expr_as(Expr::from(oldest), "oldest")
        .into_query();
    let feed = CommonTableExpression::new().table_name("feed").materialized(true).query(feed).to_owned();
    let found = events()
        .filter(Column::Seq.gt(after))
        .filter(Column::Seq.lte(end))
        .filter(has_topic(query.topic))
        .filter(is_for(reader))
        .order_by_asc(Column::Seq)
        .limit(u64::from(query.limit))
        .into_query();
    let found = CommonTableExpression::new().table_name("found").query(found).to_owned();
    let of_found = |column: Column| ("found", column);
    // Those who hear of a change by their role may not view its app, so they do not get its name.
    let found_app =
        Func::coalesce([Column::AppId, Column::AudienceAppId].map(|column| Expr::col(of_found(column))));
    Query::select()
        .with_cte(WithClause::new().cte(feed).cte(found).to_owned())
        .columns([("feed", "head"), ("feed", "oldest")])
        .columns([Column::Seq, Column::At, Column::Kind, Column::AppId, Column::RunId].map(of_found))
        .columns([Column::Code, Column::Data].map(of_found))
        .expr_as(Expr::col((apps::Entity, apps::Column::Name)), "app_name")
        .columns(
            [runs::Column::AutomationId, runs::Column::TriggerKind, runs::Column::AskedByAgent]
                .map(|column| (runs::Entity, column)),
        )
        .from("feed")
        .join(JoinType::LeftJoin, "found", literal(1).eq(literal(1)))
        .join(JoinType::LeftJoin, apps::Entity, apps::Column::Id.into_expr().eq(found_app))
        .join(JoinType::LeftJoin, runs::Entity, runs::Column::Id.into_expr().equals(of_found(Column::RunId)))
        .order_by(of_found(Column::Seq), Order::Asc)
        .to_owned()
}

/// The condition that an event is for a member.
fn is_for(reader: &Member) -> Condition {
    use workspace_events::Column;
    let app = Expr::from(Func::coalesce([Column::AppId.into_expr(), Column::AudienceAppId.into_expr()]));
    let views_app = match viewable_app_ids(reader.workspace(), reader.visibility()) {
        Some(viewable) => app.in_subquery(viewable),
        None => app.is_not_null(),
    };
    let is_person = Condition::any()
        .add(Column::AudienceUserId.is_null())
        .add(Column::AudienceUserId.eq(DbId(reader.user())));
    let has_role = Condition::all().add(Column::AudienceRole.gte(role_number(reader.role()))).add(is_person);
    Condition::any().add(views_app).add(has_role)
}

/// The condition that an event is of a topic.
fn has_topic(topic: Topic) -> Condition {
    use kind::{
        APP_FAILING, AUTOMATION_FAILING, BLOCKED, CALL_REFUSAL, CONNECTOR_DOWN, FAILED, GATE_REFUSAL, LOG,
        RETRIED, SUCCEEDED, WAITING,
    };
    use workspace_events::Column;
    match topic {
        Topic::All => Condition::all(),
        Topic::Outcomes => {
            let alerts = [GATE_REFUSAL, APP_FAILING, AUTOMATION_FAILING, CONNECTOR_DOWN];
            let kinds = [WAITING, SUCCEEDED, FAILED, BLOCKED].into_iter().chain(alerts);
            let is_fixable_call = Condition::all()
                .add(Column::Kind.eq(CALL_REFUSAL))
                .add(Column::Code.is_in(OWNER_FIXABLE_REFUSALS));
            Condition::any().add(Column::Kind.is_in(kinds)).add(is_fixable_call)
        }
        Topic::AppLog(app) => Condition::all()
            .add(Column::AppId.eq(DbId(app)))
            .add(Column::Kind.is_in([RETRIED, SUCCEEDED, FAILED, BLOCKED, LOG])),
    }
}

/// An event of a feed beside where the feed begins and ends; a feed that has nothing to show gives one row without an
/// event.
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
    let (Some(seq), Some(at), Some(kind)) = (found.seq, found.at, found.kind) else { return Ok(None) };
    let (code, data) = (found.code.as_deref(), found.data.as_deref());
    let kind = parse_event_kind(row, kind, found.run_id.map(|run| run.0.uuid()), code, data)?;
    let app = match &kind {
        EventKind::Changed(change) => change.app,
        _ => found.app_id.map(DbId::into_inner),
    };
    Ok(Some(FeedEvent {
        seq: row.number(seq)?,
        at: at.0,
        app,
        app_name: found.app_name,
        kind,
        run_origin: found.trigger_kind.map(|trigger| RunOrigin {
            automation: found.automation_id.map(DbId::into_inner),
            trigger,
            by_agent: found.asked_by_agent.unwrap_or_default(),
        }),
    }))
}
