//! The engine: it checks requests, compiles them to statements and runs those on a store.

mod batch;
mod body;
mod catalog_cache;
mod file_columns;
mod import;
mod options;
mod outbox;
mod plan;
mod precondition;
mod row_id;
mod rows;
mod rule_test;
mod schema;
mod write_observer;

use std::{fmt, sync::Arc};

use bytes::Bytes;

pub use batch::{Operation, OperationKind};
pub use import::{FileFormat, ImportOptions, ImportReport, ImportSource, Progress};
pub use options::{ReadOptions, WriteOptions};
pub use precondition::{RowTest, TableTest};
pub use rule_test::{RowResult, RuleTest, RuleTestReport};
pub use write_observer::WriteObserver;

pub use crate::sql::RuleResult;

use crate::{
    Clock, Random,
    access::Access,
    catalog::{Catalog, Table},
    error::{Error, Result},
    ident::ProjectRef,
    sql::Target,
    store::{RowStore, StoreError, TableScope},
};
use catalog_cache::CatalogCache;
use row_id::RowIdGenerator;

/// The limits of an engine. [`query`](crate::query), [`catalog`](crate::catalog) and [`rule`](crate::rule) have others,
/// which are fixed.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of rows of an insert; 500 by default.
    pub max_insert: usize,
    /// Maximum number of rows of an import; 250,000 by default.
    pub max_import: usize,
    /// Maximum length of a response in bytes; 16 MiB by default.
    pub max_response_bytes: usize,
    /// Number of projects whose catalogs are cached; 4,096 by default, at least 1.
    pub cached_catalogs: usize,
    /// Maximum number of bytes that the rows of a project take, with their indexes; `None` (default) for no limit. See
    /// [`Engine::with_storage_limit`].
    pub max_stored_bytes: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_insert: 500,
            max_import: 250_000,
            max_response_bytes: 16 * 1024 * 1024,
            cached_catalogs: 4096,
            max_stored_bytes: None,
        }
    }
}

/// A page of rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The rows as a JSON array or CSV; a JSON object if exactly one row was requested.
    pub body: Bytes,
    /// Number of rows in the body.
    pub rows: u64,
    /// Number of rows that were skipped.
    pub offset: u64,
    /// The limit that applied: the smaller of the caller's and the engine's.
    pub limit: u64,
    /// Number of matching rows, if it was requested; it may be an estimate ([`ReadOptions::count_kind`]).
    pub total: Option<u64>,
    /// The [`cursor`](crate::Query::cursor) of the next page; `None` if the query has none, or this page is not full.
    pub next_cursor: Option<String>,
}

/// The outcome of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteOutcome {
    /// The rows as a JSON array or CSV; a JSON object if exactly one row was requested, empty if none was.
    pub body: Bytes,
    /// Number of rows written.
    pub rows: u64,
    /// Number of rows that were created rather than updated, if the write merges duplicates.
    pub inserted: Option<u64>,
}

/// Projects, tables and rows over a [`RowStore`].
///
/// One engine serves any number of projects and callers at once. It caches catalogs and has no other state. Methods
/// take the caller as [`Access`], and query strings and bodies as they were sent; the bodies that they return are ready
/// to be sent. A clone shares the store and the cache.
///
/// Tables are private until they are public or have rules. A table of which a caller sees nothing is
/// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound), as one that does not exist.
#[derive(Clone)]
pub struct Engine {
    store: Arc<dyn RowStore>,
    clock: Arc<dyn Clock>,
    ids: Arc<RowIdGenerator>,
    catalog_cache: Arc<CatalogCache>,
    limits: Limits,
    precondition: Option<RowTest>,
    table_precondition: Option<TableTest>,
    write_observer: Option<Arc<dyn WriteObserver>>,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Engine {
    /// Creates an engine over a store.
    #[must_use]
    pub fn new(
        store: Arc<dyn RowStore>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        limits: Limits,
    ) -> Self {
        let ids = Arc::new(RowIdGenerator::new(random));
        let catalogs = Arc::new(CatalogCache::new(limits.cached_catalogs));
        Self {
            store,
            clock,
            ids,
            catalog_cache: catalogs,
            limits,
            precondition: None,
            table_precondition: None,
            write_observer: None,
        }
    }

    /// Creates an engine with the clock and the random numbers of the operating system, and the default limits.
    #[cfg(feature = "system")]
    #[must_use]
    pub fn with_system(store: Arc<dyn RowStore>) -> Self {
        Self::new(store, Arc::new(crate::System), Arc::new(crate::System), Limits::default())
    }

    /// Returns this engine with a storage limit: the bytes that the rows of a project may take, with their indexes.
    ///
    /// Once they take as many, inserts, updates, imports and new indexes are refused with `storage_full`; reads and
    /// deletes still work. A request is checked before it writes, so it may exceed the limit by what it writes itself.
    #[must_use]
    pub fn with_storage_limit(&self, max_stored_bytes: Option<u64>) -> Self {
        Self { limits: Limits { max_stored_bytes, ..self.limits }, ..self.clone() }
    }

    /// Returns the bytes that the rows of a project take, with their indexes. The store may estimate them
    /// ([`RowStore::stored_bytes`]).
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if there is no such project, or an error of the store.
    pub async fn stored_bytes(&self, project: &ProjectRef) -> Result<u64> {
        let stored = self.store.stored_bytes(project).await;
        stored.map_err(|error| if error.is_stale() { Error::project_not_found() } else { error.into() })
    }

    /// Creates a project without tables. An existing one does not change.
    ///
    /// # Errors
    /// An error of the store.
    pub async fn create_project(&self, project: &ProjectRef) -> Result<()> {
        Ok(self.store.create_project(project).await?)
    }

    /// Deletes a project with all of its rows. It is not an error if the project does not exist.
    ///
    /// # Errors
    /// An error of the store.
    pub async fn drop_project(&self, project: &ProjectRef) -> Result<()> {
        self.catalog_cache.invalidate(&project.id);
        let dropped = self.store.drop_project(project).await;
        self.catalog_cache.invalidate(&project.id);
        Ok(dropped?)
    }

    /// Returns the cached catalog, or loads it.
    async fn get_catalog(&self, project: &ProjectRef) -> Result<(Arc<Catalog>, CatalogSource)> {
        if let Some(catalog) = self.catalog_cache.get(&project.id) {
            return Ok((catalog, CatalogSource::Cache));
        }
        Ok((self.load_catalog(project).await?, CatalogSource::Store))
    }

    async fn load_catalog(&self, project: &ProjectRef) -> Result<Arc<Catalog>> {
        let generation = self.catalog_cache.generation();
        let catalog = self.store.catalog(project).await?.ok_or_else(Error::project_not_found)?;
        Ok(self.catalog_cache.insert_if_current(project.id.clone(), catalog, generation))
    }

    /// Plans with the cached catalog and runs the plan. If another process has changed the schema, plans and runs once
    /// more with the current catalog.
    async fn run_on_table<P, T, F>(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        plan: impl Fn(&Target<'_>) -> Result<P>,
        run: impl Fn(P) -> F,
    ) -> Result<T>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let plan = |catalog: &Catalog, scope: &TableScope| {
            catalog.get_table(table).and_then(|table| plan(&self.target(scope, catalog, table, access)))
        };
        self.run_on_catalog(project, plan, run).await
    }

    /// Does the same as [`Engine::run_on_table`] for a plan over several tables.
    async fn run_on_catalog<P, T, F>(
        &self,
        project: &ProjectRef,
        plan: impl Fn(&Catalog, &TableScope) -> Result<P>,
        run: impl Fn(P) -> F,
    ) -> Result<T>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let scope = self.store.table_scope(project);
        let (mut catalog, mut source) = self.get_catalog(project).await?;
        loop {
            // Outside the `match`, so that nothing of the catalog is borrowed across the await.
            let planned = plan(&catalog, &scope);
            let error = match planned {
                Ok(planned) => match run(planned).await {
                    Ok(result) => return Ok(result),
                    Err(error) if error.is_stale() => error.into(),
                    Err(error) => return Err(error.into()),
                },
                // Another process may have replaced the catalog that refused the request.
                Err(refused) if scope.schema_version_check.is_some() => refused,
                Err(refused) => return Err(refused),
            };
            if source == CatalogSource::Store {
                return Err(error);
            }
            (catalog, source) = (self.reload_catalog(project).await?, CatalogSource::Store);
        }
    }

    /// Returns the current catalog, even if other processes may have changed it.
    pub(crate) async fn current_catalog(&self, project: &ProjectRef) -> Result<Arc<Catalog>> {
        if self.store.table_scope(project).schema_version_check.is_some() {
            return self.reload_catalog(project).await;
        }
        Ok(self.get_catalog(project).await?.0)
    }

    async fn reload_catalog(&self, project: &ProjectRef) -> Result<Arc<Catalog>> {
        self.catalog_cache.invalidate(&project.id);
        self.load_catalog(project).await
    }

    fn target<'a>(
        &self,
        scope: &'a TableScope,
        catalog: &'a Catalog,
        table: &'a Table,
        access: &'a Access,
    ) -> Target<'a> {
        let dialect = self.store.dialect();
        let Limits { max_response_bytes: max_bytes, max_stored_bytes, .. } = self.limits;
        Target { dialect, scope, catalog, table, access, max_bytes, max_stored_bytes }
    }
}

/// The source of a catalog; a cached one may be out of date.
#[derive(Clone, Copy, PartialEq)]
enum CatalogSource {
    Cache,
    Store,
}
