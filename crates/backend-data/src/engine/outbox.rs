//! The outbox of a project: entries that changes add, until they are delivered.

use std::sync::Arc;

use async_trait::async_trait;

use super::Engine;
use crate::{
    catalog::Catalog,
    error::Result,
    ident::ProjectRef,
    store::{
        Dialect, Import, OutboxEntry, OutboxRecord, Read, RowStore, SchemaChange, StatementResult,
        StoreError, TableScope, Write,
    },
};

impl Engine {
    /// Returns this engine with entries that each of its changes adds to the project's outbox, in the transaction of
    /// the change. A change that is refused or fails adds none, and a batch adds them once.
    ///
    /// An outbox holds an id once: until the entries of a change are removed, another change with them fails. Use the
    /// returned engine for one change.
    #[must_use]
    pub fn with_outbox(&self, entries: Vec<OutboxEntry>) -> Self {
        let store: Arc<dyn RowStore> = Arc::new(OutboxStore { store: Arc::clone(&self.store), entries });
        Self { store, ..self.clone() }
    }

    /// Returns the projects whose outboxes may hold entries, among them those that an earlier process left.
    ///
    /// # Errors
    /// An error of the store.
    pub async fn pending_outboxes(&self) -> Result<Vec<ProjectRef>> {
        Ok(self.store.pending_outboxes().await?)
    }

    /// Returns the oldest entries of a project's outbox, at most [`OUTBOX_PAGE`](crate::store::OUTBOX_PAGE).
    ///
    /// # Errors
    /// An error of the store.
    pub async fn read_outbox(&self, project: &ProjectRef) -> Result<Vec<OutboxRecord>> {
        Ok(self.store.read_outbox(project).await?)
    }

    /// Removes entries from a project's outbox, after they were delivered. Unknown ids are ignored.
    ///
    /// # Errors
    /// An error of the store.
    pub async fn clear_outbox(&self, project: &ProjectRef, ids: Vec<String>) -> Result<()> {
        Ok(self.store.clear_outbox(project, ids).await?)
    }
}

/// A store that adds outbox entries to every change and passes it on.
struct OutboxStore {
    store: Arc<dyn RowStore>,
    entries: Vec<OutboxEntry>,
}

impl OutboxStore {
    fn outbox_entries(&self) -> Vec<OutboxEntry> {
        self.entries.clone()
    }
}

#[async_trait]
impl RowStore for OutboxStore {
    fn dialect(&self) -> Dialect {
        self.store.dialect()
    }

    fn table_scope(&self, project: &ProjectRef) -> TableScope {
        self.store.table_scope(project)
    }

    async fn create_project(&self, project: &ProjectRef) -> Result<(), StoreError> {
        self.store.create_project(project).await
    }

    async fn drop_project(&self, project: &ProjectRef) -> Result<(), StoreError> {
        self.store.drop_project(project).await
    }

    async fn catalog(&self, project: &ProjectRef) -> Result<Option<Catalog>, StoreError> {
        self.store.catalog(project).await
    }

    async fn apply_schema_change(
        &self,
        project: &ProjectRef,
        change: SchemaChange,
    ) -> Result<(), StoreError> {
        self.store
            .apply_schema_change(project, SchemaChange { outbox: self.outbox_entries(), ..change })
            .await
    }

    async fn read(&self, project: &ProjectRef, read: Read) -> Result<StatementResult, StoreError> {
        self.store.read(project, read).await
    }

    async fn write(&self, project: &ProjectRef, write: Write) -> Result<StatementResult, StoreError> {
        self.store.write(project, Write { outbox: self.outbox_entries(), ..write }).await
    }

    async fn write_all(
        &self,
        project: &ProjectRef,
        mut writes: Vec<Write>,
    ) -> Result<Vec<StatementResult>, StoreError> {
        if let Some(last) = writes.last_mut() {
            last.outbox = self.outbox_entries();
        }
        self.store.write_all(project, writes).await
    }

    async fn import(&self, project: &ProjectRef, import: Import) -> Result<u64, StoreError> {
        self.store.import(project, Import { outbox: self.outbox_entries(), ..import }).await
    }

    async fn stored_bytes(&self, project: &ProjectRef) -> Result<u64, StoreError> {
        self.store.stored_bytes(project).await
    }

    async fn pending_outboxes(&self) -> Result<Vec<ProjectRef>, StoreError> {
        self.store.pending_outboxes().await
    }

    async fn read_outbox(&self, project: &ProjectRef) -> Result<Vec<OutboxRecord>, StoreError> {
        self.store.read_outbox(project).await
    }

    async fn clear_outbox(&self, project: &ProjectRef, ids: Vec<String>) -> Result<(), StoreError> {
        self.store.clear_outbox(project, ids).await
    }
}
