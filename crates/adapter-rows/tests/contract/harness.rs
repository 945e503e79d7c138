//! An engine with a new project on either store.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use adapter_rows::{PgOptions, PgRows, SqliteOptions, SqliteRows};
use backend_data::{
    Access, Engine, Error, NewTable, Page, ProjectRef, ReadOptions, RowStore, WriteOptions, WriteOutcome,
};
use serde_json::Value as Json;

/// A project and its engine.
pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) project: ProjectRef,
    /// The directory of the files, deleted when this is dropped.
    _directory: Option<tempfile::TempDir>,
}

/// Returns a project that no other test uses.
pub(crate) fn fresh_project() -> ProjectRef {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    #[expect(clippy::disallowed_methods, reason = "only for names that differ between runs")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let id = format!("proj_{now:x}_{:x}_{number}", std::process::id());
    ProjectRef::new(id.parse().unwrap(), 0)
}

pub(crate) async fn world(store: Arc<dyn RowStore>, directory: Option<tempfile::TempDir>) -> World {
    let (engine, project) = (Engine::with_system(store), fresh_project());
    engine.create_project(&project).await.unwrap();
    World { engine, project, _directory: directory }
}

pub(crate) async fn sqlite() -> World {
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteRows::open(SqliteOptions::new(directory.path())).unwrap();
    world(Arc::new(store), Some(directory)).await
}

pub(crate) fn pg_options() -> PgOptions {
    let url = std::env::var("QALA_TEST_POSTGRES_URL")
        .expect("QALA_TEST_POSTGRES_URL is not set to a PostgreSQL database: run `cargo xtask test`");
    PgOptions { max_connections: 4, ..PgOptions::new(url) }
}

pub(crate) async fn pg_store() -> PgRows {
    PgRows::connect(&pg_options()).await.expect("the PostgreSQL of QALA_TEST_POSTGRES_URL responds")
}

pub(crate) async fn postgres() -> World {
    world(Arc::new(pg_store().await), None).await
}

impl World {
    pub(crate) async fn table(&self, table: NewTable) {
        self.engine.create_table(&self.project, &Access::Owner, table).await.unwrap();
    }

    pub(crate) async fn insert_as(&self, access: &Access, table: &str, rows: &str) -> Result<String, Error> {
        let options = WriteOptions::default();
        let query = "";
        let written =
            self.engine.insert(&self.project, access, table, query, rows.as_bytes(), &options).await?;
        Ok(text(&written))
    }

    pub(crate) async fn insert(&self, table: &str, rows: &str) -> Result<String, Error> {
        self.insert_as(&Access::Owner, table, rows).await
    }

    pub(crate) async fn page(&self, query: &str, options: &ReadOptions) -> Result<Page, Error> {
        self.engine.list(&self.project, &Access::Owner, "notes", query, options).await
    }

    pub(crate) async fn list_as(&self, access: &Access, query: &str) -> Result<String, Error> {
        let options = ReadOptions::default();
        let page = self.engine.list(&self.project, access, "notes", query, &options).await?;
        Ok(String::from_utf8(page.body.to_vec()).unwrap())
    }

    pub(crate) async fn list(&self, query: &str) -> Result<String, Error> {
        self.list_as(&Access::Owner, query).await
    }

    /// Returns the ids of the rows that match a query, in order.
    pub(crate) async fn ids_as(&self, access: &Access, query: &str) -> Result<String, Error> {
        let rows: Vec<Json> = serde_json::from_str(&self.list_as(access, query).await?).unwrap();
        let ids: Vec<&str> = rows.iter().filter_map(|row| row["id"].as_str()).collect();
        Ok(ids.join(""))
    }

    pub(crate) async fn ids(&self, query: &str) -> String {
        match self.ids_as(&Access::Owner, query).await {
            Ok(ids) => ids,
            Err(error) => format!("{} {}", error.code(), error.message()),
        }
    }
}

pub(crate) fn text(written: &WriteOutcome) -> String {
    String::from_utf8(written.body.to_vec()).unwrap()
}

/// Returns a fixed pseudorandom sequence of the letters `a` and `b`, on which a search takes long.
pub(crate) fn noise(length: u32) -> String {
    let letter = |n: u32| {
        let mixed = n.wrapping_mul(0x9e37_79b9);
        let mixed = (mixed ^ (mixed >> 16)).wrapping_mul(0x85eb_ca6b);
        let mixed = (mixed ^ (mixed >> 13)).wrapping_mul(0xc2b2_ae35);
        if (mixed ^ (mixed >> 16)) & 1 == 0 { 'a' } else { 'b' }
    };
    (0..length).map(letter).collect()
}
