//! Compares the schema of a database with this program's: what is to be applied, and if the program may run on it.
//!
//! A newer program may have migrated the database. Its migrations only add, so this program can run on it, unless the
//! newer one wrote a migration's name into `breaking_migrations`.

use std::collections::BTreeSet;

use sea_orm_migration::{
    MigratorTrait, MigratorTraitSelf, SchemaManager,
    prelude::{DbErr, MigrationName, MigrationTrait},
    sea_orm::{ConnectionTrait, DatabaseConnection, Statement},
};

use crate::Migrator;

/// Table with the names of the migrations that a program must know.
const BREAKING_TABLE: &str = "breaking_migrations";

/// The reason for which a program cannot run on a schema.
#[derive(Debug)]
pub enum SchemaError {
    /// A newer program changed what this one uses.
    TooNew {
        /// Names of the migrations that this program would have to know.
        unknown: Vec<String>,
    },
    /// The database failed.
    Database(DbErr),
}

impl std::fmt::Display for SchemaError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooNew { unknown } => write!(
                f,
                "a newer version of Qala migrated this database, and version {} cannot run on it (it does not know {}): \
                 start the newer version",
                env!("CARGO_PKG_VERSION"),
                unknown.join(", "),
            ),
            Self::Database(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SchemaError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::TooNew { .. } => None,
            Self::Database(error) => Some(error),
        }
    }
}

impl From<DbErr> for SchemaError {
    fn from(error: DbErr) -> Self {
        Self::Database(error)
    }
}

/// Comparison of a database's schema with this program's.
#[derive(Debug)]
pub struct SchemaStatus {
    /// Applied migrations that this program does not know; all of them only add.
    unknown: Vec<String>,
    /// Number of this program's migrations that are to be applied.
    pending: usize,
}

impl SchemaStatus {
    /// Reads the state of a database without writing to it.
    ///
    /// # Errors
    /// Fails if a newer program changed what this one uses, or if the database fails.
    pub async fn load(db: &DatabaseConnection) -> Result<Self, SchemaError> {
        let applied = TolerantMigrator(Vec::new()).applied(db).await?;
        let known: BTreeSet<String> =
            <Migrator as MigratorTrait>::migrations().iter().map(|known| known.name().to_owned()).collect();
        let pending = known.difference(&applied).count();
        let unknown: Vec<String> = applied.difference(&known).cloned().collect();
        if !unknown.is_empty() {
            let breaking_migrations = query_breaking(db).await?;
            let unknown: Vec<String> = breaking_migrations.difference(&known).cloned().collect();
            if !unknown.is_empty() {
                return Err(SchemaError::TooNew { unknown });
            }
        }
        Ok(Self { unknown, pending })
    }

    /// Returns the number of this program's migrations that are to be applied.
    #[must_use]
    pub fn pending_count(&self) -> usize {
        self.pending
    }

    /// Returns the names of applied migrations that this program does not know.
    #[must_use]
    pub fn unknown_migrations(&self) -> &[String] {
        &self.unknown
    }

    /// Applies the migrations that are to be applied.
    ///
    /// # Errors
    /// Fails if the database fails.
    pub async fn migrate(&self, db: &DatabaseConnection) -> Result<(), DbErr> {
        MigratorTraitSelf::up(&TolerantMigrator(self.unknown.clone()), db, None).await
    }
}

/// The migrations of this program, and the names of applied ones that it does not know.
struct TolerantMigrator(Vec<String>);

impl TolerantMigrator {
    async fn applied(&self, db: &DatabaseConnection) -> Result<BTreeSet<String>, DbErr> {
        if !SchemaManager::new(db).has_table("seaql_migrations").await? {
            return Ok(BTreeSet::new());
        }
        query_names(db, "SELECT version FROM seaql_migrations").await
    }
}

impl MigratorTraitSelf for TolerantMigrator {
    fn migrations(&self) -> Vec<Box<dyn MigrationTrait>> {
        let unknown =
            self.0.iter().map(|name| Box::new(UnknownMigration(name.clone())) as Box<dyn MigrationTrait>);
        let known = <Migrator as MigratorTrait>::migrations().into_iter();
        let known = known.map(|migration| Box::new(AtomicMigration(migration)) as Box<dyn MigrationTrait>);
        known.chain(unknown).collect()
    }
}

/// A migration that is applied as a whole or not at all, also on SQLite: after a program was killed, the next one starts.
struct AtomicMigration(Box<dyn MigrationTrait>);

impl MigrationName for AtomicMigration {
    fn name(&self) -> &str {
        self.0.name()
    }
}

#[async_trait::async_trait]
impl MigrationTrait for AtomicMigration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        self.0.up(manager).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

/// A migration of a newer program; this one never applies it.
struct UnknownMigration(String);

impl MigrationName for UnknownMigration {
    fn name(&self) -> &str {
        &self.0
    }
}

#[async_trait::async_trait]
impl MigrationTrait for UnknownMigration {
    async fn up(&self, _: &SchemaManager) -> Result<(), DbErr> {
        Err(DbErr::Custom(format!("{} is a migration of a newer version", self.0)))
    }
}

async fn query_breaking(db: &DatabaseConnection) -> Result<BTreeSet<String>, DbErr> {
    if !SchemaManager::new(db).has_table(BREAKING_TABLE).await? {
        return Ok(BTreeSet::new());
    }
    query_names(db, "SELECT version FROM breaking_migrations").await
}

async fn query_names(db: &DatabaseConnection, sql: &str) -> Result<BTreeSet<String>, DbErr> {
    let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), sql)).await?;
    rows.iter().map(|row| row.try_get_by_index(0)).collect()
}
