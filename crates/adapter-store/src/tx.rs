//! The unit of work: one transaction that every domain's write port is implemented on.

use std::sync::Arc;

use async_trait::async_trait;
use kernel::{
    AuditEntry, StoreError, UnitOfWork,
    events::Event,
    id::{HookId, WorkspaceId},
    mail::OutboxEmail,
};
use sea_orm::{ActiveValue::Set, DatabaseTransaction, EntityTrait as _, sea_query::OnConflict};

use crate::{
    after_commit::{AfterCommit, CommittedChanges},
    caller_cache::{self, CallerChange},
    entity::{
        audit_log,
        column::{DbId, DbTime},
    },
    error::OrStoreError as _,
    events::write as events,
    observability::log_rows::{LogRow, insert_log_lines},
    outbox_rows::insert_emails,
    pool::WriteGuard,
};

/// A transaction under way. Dropping it undoes everything.
pub struct StoreTx {
    tx: DatabaseTransaction,
    write_guard: WriteGuard,
    after_commit: Arc<AfterCommit>,
    has_writes: bool,
    has_unaudited_writes: bool,
    audit: Vec<AuditEntry>,
    emails: Vec<OutboxEmail>,
    events: Vec<Event>,
    /// Lines of log that belong to the first event.
    log_lines: Vec<LogRow>,
    /// Webhooks whose cached state this transaction makes stale.
    stale_webhooks: Vec<HookId>,
    has_queued_runs: bool,
    has_lost_runs: bool,
    /// Workspaces without new events whose followers are woken.
    woken_workspaces: Vec<WorkspaceId>,
    caller_changes: Vec<CallerChange>,
}

impl StoreTx {
    pub(crate) fn new(
        tx: DatabaseTransaction,
        write_guard: WriteGuard,
        after_commit: Arc<AfterCommit>,
    ) -> Self {
        Self {
            tx,
            write_guard,
            after_commit,
            has_writes: false,
            has_unaudited_writes: false,
            audit: Vec::new(),
            emails: Vec::new(),
            events: Vec::new(),
            log_lines: Vec::new(),
            stale_webhooks: Vec::new(),
            has_queued_runs: false,
            has_lost_runs: false,
            woken_workspaces: Vec::new(),
            caller_changes: Vec::new(),
        }
    }

    /// The transaction, for reading.
    pub(crate) fn read(&self) -> &DatabaseTransaction {
        &self.tx
    }

    /// The transaction, for writing: from now on it cannot commit without an audit entry.
    pub(crate) fn write(&mut self) -> &DatabaseTransaction {
        self.has_writes = true;
        &self.tx
    }

    /// The transaction, for writing what nobody asked for, such as a count: it commits without an audit entry.
    pub(crate) fn write_unaudited(&mut self) -> &DatabaseTransaction {
        self.has_unaudited_writes = true;
        &self.tx
    }

    /// The transaction, for a statement that may find nothing to write. If it wrote, [`Self::mark_written`] must
    /// follow.
    pub(crate) fn conditional_write(&self) -> &DatabaseTransaction {
        &self.tx
    }

    /// Marks the transaction as one that wrote: from now on it cannot commit without an audit entry.
    pub(crate) fn mark_written(&mut self) {
        self.has_writes = true;
    }

    /// Drops a webhook's cached state once this is committed.
    pub(crate) fn invalidate_webhook(&mut self, hook: HookId) {
        self.stale_webhooks.push(hook);
    }

    /// Makes every node drop this from its caller cache once this is committed.
    pub(crate) fn invalidate_caller(&mut self, change: CallerChange) {
        self.caller_changes.push(change);
    }

    /// Emits an event that tells of lines of log; at most one in a transaction.
    pub(crate) fn emit_with_log_lines(&mut self, event: Event, lines: Vec<LogRow>) {
        self.events.insert(0, event);
        self.log_lines = lines;
    }

    /// Wakes the workers once this is committed.
    pub(crate) fn wake_workers(&mut self) {
        self.has_queued_runs = true;
    }

    /// Makes those who follow a workspace's events check again that they may, once this is committed.
    pub(crate) fn wake_followers(&mut self, workspace: WorkspaceId) {
        self.woken_workspaces.push(workspace);
    }

    /// Makes nodes stop the runs that they no longer hold, once this is committed.
    pub(crate) fn stop_lost_runs(&mut self) {
        self.has_lost_runs = true;
    }
}

#[span_macros::traced]
#[async_trait]
impl UnitOfWork for StoreTx {
    fn audit(&mut self, entry: AuditEntry) {
        self.audit.push(entry);
    }

    fn enqueue_email(&mut self, email: OutboxEmail) {
        self.has_writes = true;
        self.emails.push(email);
    }

    fn publish(&mut self, event: Event) {
        self.has_writes = true;
        self.events.push(event);
    }

    async fn commit(mut self: Box<Self>) -> Result<(), StoreError> {
        if self.audit.is_empty() {
            // Nothing to keep: the transaction is undone when it is dropped.
            return match (self.has_writes, self.has_unaudited_writes) {
                (true, _) => Err(StoreError::NotAudited),
                (false, true) => self.flush_and_commit().await,
                (false, false) => Ok(()),
            };
        }
        for entry in &self.audit {
            match entry.events() {
                Ok(events) => self.events.extend(events),
                Err(error) if self.has_writes => return Err(StoreError::NotReportable(error)),
                // Nothing but an entry of another store's outbox, which a newer program may have written.
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a change is not reported");
                }
            }
        }
        self.flush_and_commit().await
    }
}

impl StoreTx {
    /// Commits what a worker did by itself, on nobody's request: the rows it wrote are the record of it.
    pub(crate) async fn commit_unaudited(self) -> Result<(), StoreError> {
        self.flush_and_commit().await
    }

    async fn flush_and_commit(self) -> Result<(), StoreError> {
        if !self.audit.is_empty() {
            let rows = self.audit.into_iter().map(audit_row);
            // An entry that waited in another store's outbox may be delivered twice.
            let once = OnConflict::column(audit_log::Column::Id).do_nothing().to_owned();
            audit_log::Entity::insert_many(rows)
                .on_conflict(once)
                .exec_without_returning(&self.tx)
                .await
                .or_store_error()?;
        }
        insert_emails(&self.tx, &self.emails).await?;
        caller_cache::insert_changes(&self.tx, &self.caller_changes).await?;
        let numbered = events::append(&self.tx, &self.events).await?;
        let event = numbered.seqs.first().copied();
        let lines: Vec<_> = self.log_lines.into_iter().map(|line| LogRow { event, ..line }).collect();
        insert_log_lines(&self.tx, &lines).await?;
        let mut workspaces = numbered.workspaces;
        workspaces.extend(self.woken_workspaces);
        self.tx.commit().await.or_store_error()?;
        drop(self.write_guard);
        self.after_commit.publish(CommittedChanges {
            workspaces,
            callers: self.caller_changes,
            webhooks: self.stale_webhooks,
            has_queued_runs: self.has_queued_runs,
            has_lost_runs: self.has_lost_runs,
            has_emails: !self.emails.is_empty(),
        });
        Ok(())
    }
}

fn audit_row(entry: AuditEntry) -> audit_log::ActiveModel {
    audit_log::ActiveModel {
        app_id: Set(entry.changed_app().map(DbId)),
        id: Set(DbId(entry.id)),
        at: Set(DbTime(entry.at)),
        workspace_id: Set(entry.workspace.map(DbId)),
        actor: Set(entry.actor.to_string()),
        action: Set(entry.action.into_owned()),
        target: Set(entry.target.map(|target| target.0)),
        request_id: Set(DbId(entry.request)),
        address: Set(entry.address.map(|address| address.to_string())),
        detail: Set(entry.detail.map(|detail| detail.to_string())),
    }
}

impl std::fmt::Debug for StoreTx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreTx").field("wrote", &self.has_writes).finish_non_exhaustive()
    }
}
