//! The unit of work: one transaction that every domain's write port is implemented on.

use async_trait::async_trait;
use kernel::{AuditEntry, StoreError, UnitOfWork, events::Event, id::HookId, mail::Letter};
use sea_orm::{ActiveValue::Set, DatabaseTransaction, EntityTrait as _, sea_query::OnConflict};

use crate::{
    Store,
    convert::millis,
    entity::audit_log,
    error::OrStoreError as _,
    events,
    observability::{LogRow, insert_lines},
    outbox,
    remembered::{self, Change},
    store::Turn,
};

/// A transaction under way. Dropping it undoes everything.
pub struct StoreTx {
    tx: DatabaseTransaction,
    turn: Turn,
    store: Store,
    wrote: bool,
    audit: Vec<AuditEntry>,
    letters: Vec<Letter>,
    events: Vec<Event>,
    /// Lines of log, which one of the events tells of.
    lines: Vec<LogRow>,
    /// Webhooks whose remembered state this transaction makes old.
    stale_hooks: Vec<HookId>,
    queued_work: bool,
    changed: Vec<Change>,
}

impl StoreTx {
    pub(crate) fn new(tx: DatabaseTransaction, turn: Turn, store: Store) -> Self {
        Self {
            tx,
            turn,
            store,
            wrote: false,
            audit: Vec::new(),
            letters: Vec::new(),
            events: Vec::new(),
            lines: Vec::new(),
            stale_hooks: Vec::new(),
            queued_work: false,
            changed: Vec::new(),
        }
    }

    /// The transaction, for reading.
    pub(crate) fn read(&self) -> &DatabaseTransaction {
        &self.tx
    }

    /// The transaction, for writing: from now on it cannot commit without an audit entry.
    pub(crate) fn write(&mut self) -> &DatabaseTransaction {
        self.wrote = true;
        &self.tx
    }

    /// Forgets a webhook's remembered state once this is committed.
    pub(crate) fn forget_hook(&mut self, hook: HookId) {
        self.stale_hooks.push(hook);
    }

    /// Makes every node forget what it remembers of this once this is committed.
    pub(crate) fn changed(&mut self, change: Change) {
        self.changed.push(change);
    }

    /// Emits an event that tells of lines of log; at most one in a transaction.
    pub(crate) fn emit_lines(&mut self, event: Event, lines: Vec<LogRow>) {
        self.events.insert(0, event);
        self.lines = lines;
    }

    /// Wakes the workers once this is committed.
    pub(crate) fn wake_workers(&mut self) {
        self.queued_work = true;
    }
}

#[async_trait]
impl UnitOfWork for StoreTx {
    fn audit(&mut self, entry: AuditEntry) {
        self.audit.push(entry);
    }

    fn post(&mut self, letter: Letter) {
        self.wrote = true;
        self.letters.push(letter);
    }

    fn emit(&mut self, event: Event) {
        self.wrote = true;
        self.events.push(event);
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        if self.audit.is_empty() {
            // Nothing to keep: the transaction is undone when it is dropped.
            return if self.wrote { Err(StoreError::NotAudited) } else { Ok(()) };
        }
        self.finish().await
    }
}

impl StoreTx {
    /// Commits what a worker did by itself, on nobody's request: its own rows are the record of it.
    pub(crate) async fn commit_of_worker(self) -> Result<(), StoreError> {
        self.finish().await
    }

    async fn finish(self) -> Result<(), StoreError> {
        if !self.audit.is_empty() {
            let rows = self.audit.into_iter().map(row);
            // An entry that waited in another store's outbox may be delivered twice.
            let once = OnConflict::column(audit_log::Column::Id).do_nothing().to_owned();
            audit_log::Entity::insert_many(rows)
                .on_conflict(once)
                .exec_without_returning(&self.tx)
                .await
                .or_store_error()?;
        }
        outbox::write(&self.tx, &self.letters).await?;
        remembered::write(&self.tx, &self.changed).await?;
        let numbered = events::write(&self.tx, &self.events).await?;
        let event = numbered.seqs.first().copied();
        let lines: Vec<_> = self.lines.into_iter().map(|line| LogRow { event, ..line }).collect();
        insert_lines(&self.tx, &lines).await?;
        self.tx.commit().await.or_store_error()?;
        drop(self.turn);
        let inner = self.store.inner();
        inner.bells.ring(&numbered.workspaces);
        inner.remembered.forget(self.changed);
        for hook in &self.stale_hooks {
            inner.hooks.invalidate(hook);
        }
        if self.queued_work {
            inner.work.notify_one();
        }
        if !self.letters.is_empty() {
            inner.letters.notify_one();
        }
        Ok(())
    }
}

fn row(entry: AuditEntry) -> audit_log::ActiveModel {
    audit_log::ActiveModel {
        id: Set(entry.id.uuid()),
        at: Set(millis(entry.at)),
        workspace_id: Set(entry.workspace.map(kernel::Id::uuid)),
        actor: Set(entry.actor),
        action: Set(entry.action.into_owned()),
        target: Set(entry.target.map(|target| target.0)),
        request_id: Set(entry.request.uuid()),
        address: Set(entry.address.map(|address| address.to_string())),
        detail: Set(entry.detail.map(|detail| detail.to_string())),
    }
}

impl std::fmt::Debug for StoreTx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoreTx").field("wrote", &self.wrote).finish_non_exhaustive()
    }
}
