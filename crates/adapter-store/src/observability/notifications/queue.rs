//! Deliveries of notifications, as the worker sees them.

use ::observability::notifications::{
    Channel, ClaimedDelivery, DeliveryOutcome, DeliveryReason, DeliveryState, EmailContent, EmailFacts,
    MAX_RECIPIENTS, NewDelivery, Notification, NotificationQueue, NotificationSubject, PLAN_WINDOW,
};
use async_trait::async_trait;
use chrono::TimeDelta;
use kernel::{
    Locale, StoreError, Timestamp,
    authority::Role,
    id::{NotificationDeliveryId, UserId, WorkspaceId, kind},
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, Condition, EntityTrait as _, FromQueryResult, JoinType, QueryFilter as _,
    QueryOrder as _, QuerySelect as _, QueryTrait as _, RelationTrait as _, Select,
    sea_query::{CaseStatement, CommonTableExpression, Expr, ExprTrait as _, LockBehavior, LockType, Query},
};

use super::{
    super::notification_rows::{hour_of, subject_id},
    notification,
};
use crate::{
    convert::RowContext,
    entity::{
        apps,
        column::{DbId, DbText, DbTime},
        members, notification_deliveries, notification_settings, notifications, users, workspaces,
    },
    error::OrStoreError as _,
    query::{self, QueueColumns, literal, unset_or_after},
    store::Store,
};

/// A member to whom an e-mail could go.
#[derive(FromQueryResult)]
struct MemberRow {
    user_id: DbId<kind::User>,
}

/// A delivery that was claimed.
#[derive(FromQueryResult)]
struct ClaimedRow {
    id: DbId<kind::NotificationDelivery>,
    workspace_id: DbId<kind::Workspace>,
    seq: i64,
    user_id: Option<DbId<kind::User>>,
    attempts: i32,
    expires_at: DbTime,
}

/// Selects the members of a workspace who have access and are told of an object: owners, admins, and whoever made the app.
fn told_members(
    workspace: WorkspaceId,
    subject: &NotificationSubject,
    now: Timestamp,
) -> Select<members::Entity> {
    use members::Column;
    let maker = subject.app().map(|app| {
        let maker = apps::Entity::find_by_id(app)
            .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
            .select_only()
            .column(apps::Column::CreatedBy)
            .into_query();
        Column::UserId.in_subquery(maker)
    });
    let is_told =
        Condition::any().add(Column::Role.is_in([Role::Owner, Role::Admin].map(DbText))).add_option(maker);
    members::Entity::find()
        .filter(Column::WorkspaceId.eq(DbId(workspace)))
        .filter(unset_or_after(Column::AccessEndsAt, now))
        .filter(is_told)
}

/// Selects the people who turned e-mail off in a workspace, as a subquery.
fn turned_off(workspace: WorkspaceId) -> Select<notification_settings::Entity> {
    use notification_settings::Column;
    notification_settings::Entity::find()
        .filter(Column::WorkspaceId.eq(DbId(workspace)))
        .filter(Column::Email.eq(false))
}

/// The condition that a notification led to e-mails that are or will be sent.
fn is_emailed() -> Expr {
    use notification_deliveries::Column;
    let of = |column| Expr::col((notification_deliveries::Entity, column));
    let told = |column| (notifications::Entity, column);
    let emails = notification_deliveries::Entity::find()
        .filter(of(Column::WorkspaceId).equals(told(notifications::Column::WorkspaceId)))
        .filter(of(Column::Seq).equals(told(notifications::Column::Seq)))
        .filter(Column::Channel.eq(DbText(Channel::Email)))
        .filter(Column::State.is_in([DeliveryState::Pending, DeliveryState::Sent].map(DbText)))
        .select_only()
        .expr(literal(1));
    Expr::exists(emails.into_query())
}

#[span_macros::traced]
#[async_trait]
impl NotificationQueue for Store {
    async fn claim_notifications(
        &self,
        limit: u32,
        now: Timestamp,
        lease: TimeDelta,
    ) -> Result<Vec<Notification>, StoreError> {
        use notifications::Column;
        let due = notifications::Entity::find().filter(Column::PlanDueAt.lte(DbTime(now)));
        // Looked up before the write lock is asked for: most of the time nothing waits.
        if !query::exists(due.clone(), self.read()).await? {
            return Ok(Vec::new());
        }
        let next = due
            .order_by_asc(Column::PlanDueAt)
            .limit(u64::from(limit))
            .lock_with_behavior(LockType::Update, LockBehavior::SkipLocked)
            .select_only()
            .columns([Column::WorkspaceId, Column::Seq])
            .into_query();
        // Materialised: asked for again, the inner select would pass over what it has locked and take more.
        let next = CommonTableExpression::new()
            .table_name("next")
            .columns(["workspace_id", "seq"])
            .materialized(true)
            .query(next)
            .to_owned();
        let key = Expr::tuple([Expr::col(Column::WorkspaceId), Expr::col(Column::Seq)]);
        let claim = Query::update()
            .with_cte(next)
            .table(notifications::Entity)
            .value(Column::PlanDueAt, DbTime(now + lease))
            .and_where(
                key.in_subquery(Query::select().columns(["workspace_id", "seq"]).from("next").to_owned()),
            )
            .returning_all()
            .to_owned();
        let mut claimed: Vec<notifications::Model> = query::fetch_all(&claim, &*self.write().await?).await?;
        // Of two about the same object, the first is told.
        claimed.sort_by_key(|model| (model.workspace_id.0, model.seq));
        claimed.iter().map(notification).collect()
    }

    async fn email_facts(&self, told: &Notification, now: Timestamp) -> Result<EmailFacts, StoreError> {
        use notifications::Column;
        let (workspace, since) = (told.workspace, now - PLAN_WINDOW);
        let recent = || {
            notifications::Entity::find()
                .filter(Column::WorkspaceId.eq(DbId(workspace)))
                .filter(Column::Kind.eq(DbText(told.subject.kind())))
                .filter(Column::Hour.gte(hour_of(since)))
                .filter(Column::At.gt(DbTime(since)))
                .filter(Column::Seq.ne(i64::try_from(told.seq).unwrap_or(i64::MAX)))
                .filter(is_emailed())
        };
        let same = recent().filter(Column::SubjectId.eq(subject_id(&told.subject)));
        let is_repeated = query::exists(same, self.read()).await?;
        let emailed = query::count(recent(), self.read()).await?;
        let waiting = notification_deliveries::Entity::find()
            .filter(notification_deliveries::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(notification_deliveries::Column::DueAt.is_not_null());
        let waiting = query::count(waiting, self.read()).await?;
        let off = turned_off(workspace).select_only().column(notification_settings::Column::UserId);
        let by_role = Role::ALL.iter().enumerate().fold(CaseStatement::new(), |ranks, (rank, role)| {
            let rank = i32::try_from(rank).unwrap_or(i32::MAX);
            ranks.case(members::Column::Role.eq(DbText(*role)), literal(rank))
        });
        let recipients = told_members(workspace, &told.subject, now)
            .filter(members::Column::UserId.not_in_subquery(off.into_query()))
            .order_by_asc::<Expr>(by_role.into())
            .order_by_asc(members::Column::JoinedAt)
            .limit(u64::from(MAX_RECIPIENTS))
            .select_only()
            .column(members::Column::UserId)
            .into_model::<MemberRow>()
            .all(self.read())
            .await
            .or_store_error()?;
        let recipients = recipients.into_iter().map(|member| member.user_id.0).collect();
        Ok(EmailFacts { is_repeated, emailed, waiting, recipients })
    }

    async fn plan_deliveries(
        &self,
        told: &Notification,
        deliveries: &[NewDelivery],
    ) -> Result<(), StoreError> {
        use notifications::Column;
        let seq = i64::try_from(told.seq).unwrap_or(i64::MAX);
        let rows = deliveries.iter().map(|delivery| {
            let (state, reason, order) = match delivery.order {
                Ok(order) => (DeliveryState::Pending, None, Some(order)),
                Err(reason) => (DeliveryState::Undelivered, Some(reason), None),
            };
            notification_deliveries::ActiveModel {
                id: Set(DbId(delivery.id)),
                workspace_id: Set(DbId(told.workspace)),
                seq: Set(seq),
                channel: Set(DbText(delivery.channel)),
                user_id: Set(order.map(|order| DbId(order.recipient))),
                state: Set(DbText(state)),
                reason: Set(reason.map(DbText)),
                attempts: Set(0),
                due_at: Set(order.map(|order| DbTime(order.due_at))),
                expires_at: Set(DbTime(order.map_or(told.at, |order| order.expires_at))),
            }
        });
        let rows: Vec<_> = rows.collect();
        let mut tx = self.begin().await?;
        let planned = notifications::Entity::update_many()
            .col_expr(Column::PlanDueAt, Expr::value(None::<DbTime>))
            .filter(Column::WorkspaceId.eq(DbId(told.workspace)))
            .filter(Column::Seq.eq(seq))
            .filter(Column::PlanDueAt.is_not_null())
            .exec(tx.write_unaudited())
            .await
            .or_store_error()?;
        // Another worker may have taken it over, or the notification is gone.
        if planned.rows_affected > 0 && !rows.is_empty() {
            notification_deliveries::Entity::insert_many(rows)
                .exec_without_returning(tx.write_unaudited())
                .await
                .or_store_error()?;
        }
        tx.commit_unaudited().await
    }

    async fn claim_deliveries(
        &self,
        limit: u32,
        now: Timestamp,
        lease: TimeDelta,
    ) -> Result<Vec<ClaimedDelivery>, StoreError> {
        use notification_deliveries::{Column, Entity};
        let columns = QueueColumns { id: Column::Id, due_at: Column::DueAt, attempts: Column::Attempts };
        let claimed: Vec<ClaimedRow> =
            query::claim_due::<Entity, _>(self, columns, limit, now, lease).await?;
        let claimed = claimed.into_iter().map(|found| {
            let row = RowContext::new("notification_deliveries", found.id);
            Ok(ClaimedDelivery {
                id: found.id.0,
                workspace: found.workspace_id.0,
                seq: row.number(found.seq)?,
                recipient: found.user_id.ok_or_else(|| row.error("a due delivery needs a person"))?.0,
                attempts: row.number(i64::from(found.attempts) - 1)?,
                expires_at: found.expires_at.0,
            })
        });
        claimed.collect()
    }

    async fn email_content(
        &self,
        delivery: &ClaimedDelivery,
        now: Timestamp,
    ) -> Result<Result<EmailContent, DeliveryReason>, StoreError> {
        #[derive(FromQueryResult)]
        struct ContentRow {
            address: String,
            workspace_name: String,
            locale: DbText<Locale>,
        }
        let seq = i64::try_from(delivery.seq).unwrap_or(i64::MAX);
        let workspace = delivery.workspace;
        let model = notifications::Entity::find_by_id((DbId(workspace), seq));
        let Some(model) = model.one(self.read()).await.or_store_error()? else {
            return Ok(Err(DeliveryReason::NoAccess));
        };
        let told = notification(&model)?;
        let person = told_members(workspace, &told.subject, now)
            .filter(members::Column::UserId.eq(DbId(delivery.recipient)))
            .join(JoinType::InnerJoin, members::Relation::User.def())
            .join(JoinType::InnerJoin, members::Relation::Workspace.def())
            .filter(workspaces::Column::DeletedAt.is_null())
            .select_only()
            .column_as(users::Column::Email, "address")
            .column_as(workspaces::Column::Name, "workspace_name")
            .column_as(workspaces::Column::Locale, "locale")
            .into_model::<ContentRow>()
            .one(self.read())
            .await
            .or_store_error()?;
        let Some(person) = person else { return Ok(Err(DeliveryReason::NoAccess)) };
        let names = self.subject_names(workspace, std::slice::from_ref(&model)).await?;
        let Some(names) = names.into_values().next().filter(|names| is_complete(&told.subject, names)) else {
            return Ok(Err(DeliveryReason::NoAccess));
        };
        if !self.wants_email(workspace, delivery.recipient).await? {
            return Ok(Err(DeliveryReason::TurnedOff));
        }
        Ok(Ok(EmailContent {
            notification: told,
            names,
            workspace_name: person.workspace_name,
            locale: person.locale.0,
            address: person.address,
        }))
    }

    async fn end_attempt(
        &self,
        delivery: NotificationDeliveryId,
        outcome: DeliveryOutcome,
    ) -> Result<(), StoreError> {
        use notification_deliveries::Column;
        let (state, reason, due_at) = match outcome {
            DeliveryOutcome::Sent => (DeliveryState::Sent, None, None),
            DeliveryOutcome::Undelivered(reason) => (DeliveryState::Undelivered, Some(reason), None),
            DeliveryOutcome::Retry(at) => (DeliveryState::Pending, None, Some(at)),
        };
        notification_deliveries::Entity::update_many()
            .col_expr(Column::State, Expr::value(DbText(state)))
            .col_expr(Column::Reason, Expr::value(reason.map(DbText)))
            .col_expr(Column::DueAt, Expr::value(due_at.map(DbTime)))
            .filter(Column::Id.eq(DbId(delivery)))
            .exec(&*self.write().await?)
            .await
            .or_store_error()?;
        Ok(())
    }
}

/// Returns true if the object still exists, as far as its names tell.
fn is_complete(subject: &NotificationSubject, names: &::observability::notifications::SubjectNames) -> bool {
    match subject {
        NotificationSubject::App { .. } | NotificationSubject::Approval { .. } => names.app.is_some(),
        NotificationSubject::Automation { .. } => names.app.is_some() && names.automation.is_some(),
        NotificationSubject::Connection(_) => names.connection.is_some(),
    }
}

impl Store {
    async fn wants_email(&self, workspace: WorkspaceId, user: UserId) -> Result<bool, StoreError> {
        let off = turned_off(workspace).filter(notification_settings::Column::UserId.eq(DbId(user)));
        Ok(!query::exists(off, self.read()).await?)
    }
}
