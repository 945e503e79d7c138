//! A store over several stores: each project's rows are in the store of its shard.

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use backend_data::{
    Catalog, Dialect, ProjectRef, RowStore, StoreError,
    store::{Import, OutboxRecord, Read, SchemaChange, StatementResult, TableScope, Write},
};

/// Several stores of one kind as one store. A project is in the store with the number of its shard
/// ([`ProjectRef::shard`]).
///
/// An operation on a project whose shard has no store is [`StoreError::Unavailable`].
pub struct Shards {
    dialect: Dialect,
    stores: BTreeMap<u16, Arc<dyn RowStore>>,
}

/// The error of stores that cannot be combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShardsError {
    /// There is no store.
    #[error("there is no shard")]
    None,
    /// Some stores use SQLite and others PostgreSQL.
    #[error("all shards must use the same kind of database")]
    Mixed,
}

impl std::fmt::Debug for Shards {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shards").field("numbers", &self.stores.keys()).finish_non_exhaustive()
    }
}

impl Shards {
    /// Combines stores, by the numbers of their shards.
    ///
    /// # Errors
    /// [`ShardsError::None`] without stores, [`ShardsError::Mixed`] if they are of two kinds.
    pub fn new(stores: BTreeMap<u16, Arc<dyn RowStore>>) -> Result<Self, ShardsError> {
        let dialect = stores.values().next().ok_or(ShardsError::None)?.dialect();
        if stores.values().any(|store| store.dialect() != dialect) {
            return Err(ShardsError::Mixed);
        }
        Ok(Self { dialect, stores })
    }

    fn get_store(&self, project: &ProjectRef) -> Result<&dyn RowStore, StoreError> {
        let store = self.stores.get(&project.shard);
        // The rows exist elsewhere, so the project must not be reported as missing.
        let missing = || StoreError::Unavailable(format!("shard {} is not configured", project.shard).into());
        store.map(|store| &**store).ok_or_else(missing)
    }
}

#[async_trait]
impl RowStore for Shards {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn table_scope(&self, project: &ProjectRef) -> TableScope {
        // Without a store, no statement is ever run.
        let no_scope = TableScope { prefix: String::new(), schema_version_check: None };
        self.stores.get(&project.shard).map_or(no_scope, |store| store.table_scope(project))
    }

    async fn create_project(&self, project: &ProjectRef) -> Result<(), StoreError> {
        self.get_store(project)?.create_project(project).await
    }

    async fn drop_project(&self, project: &ProjectRef) -> Result<(), StoreError> {
        self.get_store(project)?.drop_project(project).await
    }

    async fn catalog(&self, project: &ProjectRef) -> Result<Option<Catalog>, StoreError> {
        self.get_store(project)?.catalog(project).await
    }

    async fn apply_schema_change(
        &self,
        project: &ProjectRef,
        change: SchemaChange,
    ) -> Result<(), StoreError> {
        self.get_store(project)?.apply_schema_change(project, change).await
    }

    async fn read(&self, project: &ProjectRef, read: Read) -> Result<StatementResult, StoreError> {
        self.get_store(project)?.read(project, read).await
    }

    async fn write(&self, project: &ProjectRef, write: Write) -> Result<StatementResult, StoreError> {
        self.get_store(project)?.write(project, write).await
    }

    async fn write_all(
        &self,
        project: &ProjectRef,
        writes: Vec<Write>,
    ) -> Result<Vec<StatementResult>, StoreError> {
        self.get_store(project)?.write_all(project, writes).await
    }

    async fn import(&self, project: &ProjectRef, import: Import) -> Result<u64, StoreError> {
        self.get_store(project)?.import(project, import).await
    }

    async fn stored_bytes(&self, project: &ProjectRef) -> Result<u64, StoreError> {
        self.get_store(project)?.stored_bytes(project).await
    }

    async fn pending_outboxes(&self) -> Result<Vec<ProjectRef>, StoreError> {
        let mut all = Vec::new();
        for store in self.stores.values() {
            all.extend(store.pending_outboxes().await?);
        }
        // Two shards may share a database, and then both list the same projects.
        all.sort_by(|one, other| (one.shard, &one.id).cmp(&(other.shard, &other.id)));
        all.dedup();
        Ok(all)
    }

    async fn read_outbox(&self, project: &ProjectRef) -> Result<Vec<OutboxRecord>, StoreError> {
        self.get_store(project)?.read_outbox(project).await
    }

    async fn clear_outbox(&self, project: &ProjectRef, ids: Vec<String>) -> Result<(), StoreError> {
        self.get_store(project)?.clear_outbox(project, ids).await
    }
}
