//! Notifications and their deliveries.

mod queue;

use std::collections::HashMap;

use ::observability::notifications::{
    Channel, DeliveryCount, DeliveryReason, DeliveryState, ListedNotification, Notification,
    NotificationKind, NotificationSettings, NotificationSubject, NotificationsRead, NotificationsTx,
    ReadPosition, SubjectNames, report_channels, report_in_app_only,
};
use async_trait::async_trait;
use kernel::{
    Id, StoreError,
    authority::Member,
    id::{UserId, WorkspaceId},
    page::PageRequest,
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, Condition, EntityTrait as _, FromQueryResult, QueryFilter as _, QueryOrder as _,
    QuerySelect, QueryTrait as _, Select,
    sea_query::{Asterisk, Expr, ExprTrait as _, Func, OnConflict, Query},
};

use crate::{
    apps::{editable_app_ids, visible_app_ids},
    convert::RowContext,
    entity::{
        apps, automations,
        column::{DbId, DbText, DbTime},
        connections, members, notification_deliveries, notification_settings, notifications, workspace_feeds,
    },
    error::OrStoreError as _,
    query,
    store::Store,
    tx::StoreTx,
};

/// Notifications among which unread ones are counted: the newest. More costs more than the number is worth.
const MAX_COUNTED: u64 = 1_000;

/// Returns the notification of a row.
fn notification(model: &notifications::Model) -> Result<Notification, StoreError> {
    let row = RowContext::new("notifications", model.workspace_id);
    let of_app = || -> Result<_, StoreError> {
        let app = model.app_id.ok_or_else(|| row.error("a failing app needs its id"))?;
        let run = model.run_id.ok_or_else(|| row.error("a failing app needs a run"))?;
        Ok((app.0, run.0))
    };
    let subject = match model.kind.0 {
        NotificationKind::AppFailing => {
            let (app, run) = of_app()?;
            NotificationSubject::App { app, run }
        }
        NotificationKind::AutomationFailing => {
            let (app, run) = of_app()?;
            NotificationSubject::Automation { app, automation: Id::from_uuid(model.subject_id), run }
        }
        NotificationKind::ConnectorDown => NotificationSubject::Connection(Id::from_uuid(model.subject_id)),
        NotificationKind::ApprovalNeeded => {
            let (app, run) = of_app()?;
            NotificationSubject::Approval { app, run, approval: Id::from_uuid(model.subject_id) }
        }
    };
    Ok(Notification {
        workspace: model.workspace_id.0,
        seq: row.number(model.seq)?,
        at: model.at.0,
        subject,
        code: model.code.clone(),
    })
}

/// The condition that a member may see a notification: a question, if they may answer it. What belongs to a deleted app is
/// not listed.
fn is_visible(member: &Member, column: impl Fn(notifications::Column) -> Expr) -> Condition {
    use notifications::Column;
    let viewable = visible_app_ids(member.workspace(), member.visibility());
    let editable = editable_app_ids(member);
    let question = || Expr::value(DbText(NotificationKind::ApprovalNeeded));
    let is_question = column(Column::Kind).eq(question());
    let is_alert = column(Column::Kind).ne(question());
    Condition::any()
        .add(column(Column::AppId).is_null())
        .add(is_alert.and(column(Column::AppId).in_subquery(viewable)))
        .add(is_question.and(column(Column::AppId).in_subquery(editable)))
}

fn settings_of(workspace: WorkspaceId, user: UserId) -> Select<notification_settings::Entity> {
    notification_settings::Entity::find_by_id((DbId(workspace), DbId(user)))
}

fn settings(stored: Option<notification_settings::Model>) -> Result<NotificationSettings, StoreError> {
    stored.map_or(Ok(NotificationSettings::DEFAULT), |model| {
        let row = RowContext::new("notification_settings", model.user_id);
        Ok(NotificationSettings { email: model.email, read_to: row.number(model.read_to)? })
    })
}

#[span_macros::traced]
#[async_trait]
impl NotificationsRead for Store {
    async fn notifications(
        &self,
        member: &Member,
        page: PageRequest<u64>,
    ) -> Result<Vec<ListedNotification>, StoreError> {
        use notifications::Column;
        let after = page.after.map(|after| i64::try_from(after).unwrap_or(i64::MAX));
        let found = notifications::Entity::find()
            .filter(Column::WorkspaceId.eq(DbId(member.workspace())))
            .filter(is_visible(member, sea_orm::ColumnTrait::into_expr))
            .apply_if(after, |query, after| query.filter(Column::Seq.lt(after)))
            .order_by_desc(Column::Seq)
            .limit(u64::from(page.limit) + 1)
            .all(self.read())
            .await
            .or_store_error()?;
        let mut names = self.subject_names(member.workspace(), &found).await?;
        let mut counts = self.delivery_counts(member.workspace(), &found).await?;
        found
            .iter()
            .map(|model| {
                let counts = counts.remove(&model.seq).unwrap_or_default();
                let row = RowContext::new("notifications", model.workspace_id);
                let notification = notification(model)?;
                let subject = notification.subject;
                Ok(ListedNotification {
                    notification,
                    names: names.remove(&model.seq).unwrap_or_default(),
                    repeats: row.number(model.repeats)?,
                    channels: if subject.is_in_app_only() {
                        report_in_app_only()
                    } else {
                        report_channels(&counts, model.plan_due_at.is_none())
                    },
                })
            })
            .collect()
    }

    async fn read_position(&self, member: &Member) -> Result<Option<ReadPosition>, StoreError> {
        let Some(user) = member.beneficiary() else { return Ok(None) };
        let key = || (DbId(member.workspace()), DbId(user));
        let found = members::Entity::find_by_id(key()).one(self.read()).await.or_store_error()?;
        let Some(membership) = found else { return Ok(None) };
        let read_to = self.notification_settings(member.workspace(), user).await?.read_to;
        Ok(Some(ReadPosition { read_to, joined_at: membership.joined_at.0 }))
    }

    async fn count_unread_notifications(
        &self,
        member: &Member,
        position: ReadPosition,
        limit: u32,
    ) -> Result<u32, StoreError> {
        use notifications::Column;
        let newest = notifications::Entity::find()
            .filter(Column::WorkspaceId.eq(DbId(member.workspace())))
            .filter(Column::Seq.gt(i64::try_from(position.read_to).unwrap_or(i64::MAX)))
            .order_by_desc(Column::Seq)
            .limit(MAX_COUNTED)
            .into_query();
        let count = Query::select()
            .expr_as(Func::count(Expr::col(Asterisk)), "count")
            .from_subquery(newest, "newest")
            .cond_where(is_visible(member, |column| Expr::col(("newest", column))))
            .and_where(Expr::col(("newest", Column::At)).gte(DbTime(position.joined_at)))
            .to_owned();
        #[derive(FromQueryResult)]
        struct Counted {
            count: i64,
        }
        let counted: Option<Counted> = query::fetch_one(&count, self.read()).await?;
        let count = Ord::min(counted.map_or(0, |found| found.count), limit.into());
        RowContext::new("notifications", member.workspace()).number(count)
    }

    async fn notification_settings(
        &self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<NotificationSettings, StoreError> {
        settings(settings_of(workspace, user).one(self.read()).await.or_store_error()?)
    }
}

#[span_macros::traced]
#[async_trait]
impl NotificationsTx for StoreTx {
    async fn notification_settings_for_update(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
    ) -> Result<NotificationSettings, StoreError> {
        // The row of a person who chose nothing is made, so that there is something to lock.
        let row = notification_settings::ActiveModel {
            workspace_id: Set(DbId(workspace)),
            user_id: Set(DbId(user)),
            email: Set(NotificationSettings::DEFAULT.email),
            read_to: Set(0),
        };
        notification_settings::Entity::insert(row)
            .on_conflict(same_person().do_nothing().to_owned())
            .exec_without_returning(self.write_unaudited())
            .await
            .or_store_error()?;
        let locked = settings_of(workspace, user).lock_exclusive();
        settings(locked.one(self.read()).await.or_store_error()?)
    }

    async fn set_notification_email(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        email: bool,
    ) -> Result<(), StoreError> {
        use notification_settings::Column;
        notification_settings::Entity::update_many()
            .col_expr(Column::Email, Expr::value(email))
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .filter(Column::UserId.eq(DbId(user)))
            .exec(self.write())
            .await
            .or_store_error()?;
        Ok(())
    }

    async fn set_notifications_read(
        &mut self,
        workspace: WorkspaceId,
        user: UserId,
        up_to: u64,
    ) -> Result<(), StoreError> {
        use notification_settings::Column;
        let feed = workspace_feeds::Entity::find_by_id(workspace).one(self.read()).await.or_store_error()?;
        let newest = feed.map_or(0, |feed| feed.seq);
        let read_to = Ord::min(i64::try_from(up_to).unwrap_or(i64::MAX), newest);
        let stored = self.notification_settings_for_update(workspace, user).await?;
        if i64::try_from(stored.read_to).is_ok_and(|stored| stored >= read_to) {
            return Ok(());
        }
        notification_settings::Entity::update_many()
            .col_expr(Column::ReadTo, Expr::value(read_to))
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .filter(Column::UserId.eq(DbId(user)))
            .exec(self.write_unaudited())
            .await
            .or_store_error()?;
        Ok(())
    }
}

fn same_person() -> OnConflict {
    use notification_settings::Column;
    OnConflict::columns([Column::WorkspaceId, Column::UserId])
}

/// An object that has a name.
#[derive(FromQueryResult)]
struct NameRow {
    id: uuid::Uuid,
    name: String,
}

impl Store {
    /// Returns the names of the objects of notifications, by number.
    async fn subject_names(
        &self,
        workspace: WorkspaceId,
        found: &[notifications::Model],
    ) -> Result<HashMap<i64, SubjectNames>, StoreError> {
        let of_kind = |kind: NotificationKind| {
            found.iter().filter(move |model| model.kind.0 == kind).map(|model| model.subject_id)
        };
        let app_ids = found.iter().filter_map(|model| model.app_id).map(|app| app.0.uuid());
        let app_query = apps::Entity::find()
            .filter(apps::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(apps::Column::Id.is_in(app_ids))
            .select_only()
            .column_as(apps::Column::Id, "id")
            .column_as(apps::Column::Name, "name");
        let automation_query = automations::Entity::find()
            .filter(automations::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(automations::Column::Id.is_in(of_kind(NotificationKind::AutomationFailing)))
            .select_only()
            .column_as(automations::Column::Id, "id")
            .column_as(automations::Column::Name, "name");
        let connection_query = connections::Entity::find()
            .filter(connections::Column::WorkspaceId.eq(DbId(workspace)))
            .filter(connections::Column::Id.is_in(of_kind(NotificationKind::ConnectorDown)))
            .select_only()
            .column_as(connections::Column::Id, "id")
            .column_as(connections::Column::DisplayName, "name");
        let mut names = HashMap::new();
        for rows in [
            app_query.into_model::<NameRow>().all(self.read()).await.or_store_error()?,
            automation_query.into_model::<NameRow>().all(self.read()).await.or_store_error()?,
            connection_query.into_model::<NameRow>().all(self.read()).await.or_store_error()?,
        ] {
            names.extend(rows.into_iter().map(|row| (row.id, row.name)));
        }
        let named = |model: &notifications::Model| {
            let subject = names.get(&model.subject_id).cloned();
            let app = model.app_id.and_then(|app| names.get(&app.0.uuid()).cloned());
            match model.kind.0 {
                NotificationKind::AppFailing | NotificationKind::ApprovalNeeded => {
                    SubjectNames { app, ..SubjectNames::default() }
                }
                NotificationKind::AutomationFailing => {
                    SubjectNames { app, automation: subject, ..SubjectNames::default() }
                }
                NotificationKind::ConnectorDown => {
                    SubjectNames { connection: subject, ..SubjectNames::default() }
                }
            }
        };
        Ok(found.iter().map(|model| (model.seq, named(model))).collect())
    }

    /// Counts the deliveries of notifications, by number.
    async fn delivery_counts(
        &self,
        workspace: WorkspaceId,
        found: &[notifications::Model],
    ) -> Result<HashMap<i64, Vec<DeliveryCount>>, StoreError> {
        #[derive(FromQueryResult)]
        struct CountRow {
            seq: i64,
            channel: DbText<Channel>,
            state: DbText<DeliveryState>,
            reason: Option<DbText<DeliveryReason>>,
            count: i64,
        }
        use notification_deliveries::Column;
        let by = [Column::Seq, Column::Channel, Column::State, Column::Reason];
        let rows = notification_deliveries::Entity::find()
            .filter(Column::WorkspaceId.eq(DbId(workspace)))
            .filter(Column::Seq.is_in(found.iter().map(|model| model.seq)))
            .select_only()
            .columns(by)
            .expr_as(Func::count(Expr::col(Asterisk)), "count");
        let rows = by.into_iter().fold(rows, QuerySelect::group_by);
        let rows = rows.into_model::<CountRow>().all(self.read()).await.or_store_error()?;
        let context = RowContext::new("notification_deliveries", workspace);
        let mut counts: HashMap<i64, Vec<DeliveryCount>> = HashMap::new();
        for row in rows {
            counts.entry(row.seq).or_default().push(DeliveryCount {
                channel: row.channel.0,
                state: row.state.0,
                reason: row.reason.map(|reason| reason.0),
                count: context.number(row.count)?,
            });
        }
        Ok(counts)
    }
}
