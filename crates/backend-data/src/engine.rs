//! The engine: what callers ask, checked, compiled and handed to a store.

mod batch;
mod body;
mod catalog_cache;
mod import;
mod outbox;
mod plan;
mod row_id;
mod rows;
mod rule_test;
mod schema;

use std::{fmt, sync::Arc};

use bytes::Bytes;

pub use batch::{Operation, OperationKind};
pub use import::{FileFormat, ImportOptions, ImportSource, Progress};
pub use rows::{ReadOptions, WriteOptions};
pub use rule_test::{RowResult, RuleResult, RuleTest, RuleTestReport};

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

/// What the engine gives and takes at most.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most rows of one insert.
    pub max_insert: usize,
    /// The most rows of one import.
    pub max_import: usize,
    /// The largest answer in bytes.
    pub max_response_bytes: usize,
    /// How many projects' catalogs are kept in memory.
    pub cached_catalogs: usize,
    /// How many bytes the rows of a project may take, with their indexes; none for no limit. See [`Engine::with_storage_limit`].
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
    /// A JSON array, or an object where exactly one row was asked for, or CSV.
    pub body: Bytes,
    /// How many rows it holds.
    pub rows: u64,
    /// How many rows were passed over.
    pub offset: u64,
    /// The limit that held: the caller's, or the engine's where that is less.
    pub limit: u64,
    /// How many rows match, where that was asked.
    pub total: Option<u64>,
    /// The `cursor` of the next page, where the query walks with cursors and this page is full.
    pub next_cursor: Option<String>,
}

/// What a write did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteOutcome {
    /// The rows as a JSON array, an object where exactly one was asked for, empty where none was.
    pub body: Bytes,
    /// How many rows were written.
    pub rows: u64,
    /// How many of them were not there before, where an insert merges duplicates.
    pub inserted: Option<u64>,
}

/// Projects, tables and rows over a [`RowStore`].
///
/// It keeps catalogs in memory and nothing else; one engine serves any number of projects and callers at once.
/// Methods take who asks as [`Access`]; bodies and query strings go in as they came, and answers are ready to be sent. A
/// clone is the same engine.
#[derive(Clone)]
pub struct Engine {
    store: Arc<dyn RowStore>,
    clock: Arc<dyn Clock>,
    ids: Arc<RowIdGenerator>,
    catalog_cache: Arc<CatalogCache>,
    limits: Limits,
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Engine {
    /// An engine over a store, with time and randomness from outside.
    #[must_use]
    pub fn new(
        store: Arc<dyn RowStore>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        limits: Limits,
    ) -> Self {
        let ids = Arc::new(RowIdGenerator::new(random));
        let catalogs = Arc::new(CatalogCache::new(limits.cached_catalogs));
        Self { store, clock, ids, catalog_cache: catalogs, limits }
    }

    /// An engine with this machine's time and randomness and the usual limits.
    #[cfg(feature = "system")]
    #[must_use]
    pub fn with_system(store: Arc<dyn RowStore>) -> Self {
        Self::new(store, Arc::new(crate::System), Arc::new(crate::System), Limits::default())
    }

    /// This engine for projects whose rows, with their indexes, may take so many bytes; none for no limit.
    ///
    /// Where they take as many, inserts, updates, imports and new indexes are refused as `storage_full`; reads and deletes
    /// are not. A request that is let through is not cut short: it may go beyond the limit by what it writes itself.
    #[must_use]
    pub fn with_storage_limit(&self, max_stored_bytes: Option<u64>) -> Self {
        Self { limits: Limits { max_stored_bytes, ..self.limits }, ..self.clone() }
    }

    /// How many bytes the rows of a project take, with their indexes; an estimate where the store is PostgreSQL's.
    ///
    /// # Errors
    /// When there is no such project or the store fails.
    pub async fn stored_bytes(&self, project: &ProjectRef) -> Result<u64> {
        let stored = self.store.stored_bytes(project).await;
        stored.map_err(|error| if error.is_stale() { Error::project_not_found() } else { error.into() })
    }

    /// Makes room for a project. One that exists stays as it is.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn create_project(&self, project: &ProjectRef) -> Result<()> {
        Ok(self.store.create_project(project).await?)
    }

    /// Deletes a project and every row of it. One that does not exist is no error.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn drop_project(&self, project: &ProjectRef) -> Result<()> {
        self.catalog_cache.invalidate(&project.id);
        let dropped = self.store.drop_project(project).await;
        self.catalog_cache.invalidate(&project.id);
        Ok(dropped?)
    }

    /// The catalog as remembered, or as the store has it.
    async fn get_catalog(&self, project: &ProjectRef) -> Result<(Arc<Catalog>, CatalogSource)> {
        if let Some(catalog) = self.catalog_cache.get(&project.id) {
            return Ok((catalog, CatalogSource::Cache));
        }
        Ok((self.load_catalog(project).await?, CatalogSource::Store))
    }

    async fn load_catalog(&self, project: &ProjectRef) -> Result<Arc<Catalog>> {
        let ticket = self.catalog_cache.generation();
        let catalog = self.store.catalog(project).await?.ok_or_else(Error::project_not_found)?;
        Ok(self.catalog_cache.insert_if_current(project.id.clone(), catalog, ticket))
    }

    /// Plans with the catalog in memory and runs the plan; where another process changed the schema, plans and
    /// runs again, once, with the catalog as it is now.
    async fn run_on_table<P, A, F>(
        &self,
        project: &ProjectRef,
        access: &Access,
        table: &str,
        plan: impl Fn(&Target<'_>) -> Result<P>,
        run: impl Fn(P) -> F,
    ) -> Result<A>
    where
        F: Future<Output = Result<A, StoreError>>,
    {
        let plan = |catalog: &Catalog, scope: &TableScope| {
            catalog.get_table(table).and_then(|table| plan(&self.target(scope, catalog, table, access)))
        };
        self.run_on_catalog(project, plan, run).await
    }

    /// The same for a plan over several tables.
    async fn run_on_catalog<P, A, F>(
        &self,
        project: &ProjectRef,
        plan: impl Fn(&Catalog, &TableScope) -> Result<P>,
        run: impl Fn(P) -> F,
    ) -> Result<A>
    where
        F: Future<Output = Result<A, StoreError>>,
    {
        let scope = self.store.table_scope(project);
        let (mut catalog, mut source) = self.get_catalog(project).await?;
        loop {
            // Nothing of the catalog is borrowed across the wait below.
            let planned = plan(&catalog, &scope);
            let error = match planned {
                Ok(planned) => match run(planned).await {
                    Ok(answer) => return Ok(answer),
                    Err(error) if error.is_stale() => error.into(),
                    Err(error) => return Err(error.into()),
                },
                // Refused by a catalog that another process may have replaced.
                Err(refused) if scope.schema_version_check.is_some() => refused,
                Err(refused) => return Err(refused),
            };
            if source == CatalogSource::Store {
                return Err(error);
            }
            (catalog, source) = (self.reload_catalog(project).await?, CatalogSource::Store);
        }
    }

    /// The catalog as it is now, also where other processes may have changed it.
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
        let Limits { max_response_bytes: max_answer_bytes, max_stored_bytes, .. } = self.limits;
        let (max_bytes, max_stored) = (max_answer_bytes, max_stored_bytes);
        Target { dialect, scope, catalog, table, access, max_bytes, max_stored_bytes: max_stored }
    }
}

/// Where a catalog came from: what is remembered may be out of date.
#[derive(Clone, Copy, PartialEq)]
enum CatalogSource {
    Cache,
    Store,
}
