//! Compares the schema of a database with this program's: what is to be applied, and if the program may run on it.
//!
//! A newer program may have migrated the database. Its migrations only add, so this program can run on it, unless the
//! newer one wrote a migration's name into `breaking_migrations`.

use std::collections::BTreeSet;

use sea_orm::{DatabaseConnection, DbErr};

use crate::{MIGRATIONS, Migration, history};

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
    /// This program's migrations that are to be applied, oldest first.
    pending: Vec<&'static Migration>,
}

impl SchemaStatus {
    /// Reads the state of a database without writing to it.
    ///
    /// # Errors
    /// Fails if a newer program changed what this one uses, or if the database fails.
    pub async fn load(db: &DatabaseConnection) -> Result<Self, SchemaError> {
        let applied = history::applied(db).await?;
        let pending = MIGRATIONS.iter().filter(|known| !applied.contains(known.name())).collect();
        let unknown = names_unknown_here(applied);
        if !unknown.is_empty() {
            let unknown = names_unknown_here(history::breaking(db).await?);
            if !unknown.is_empty() {
                return Err(SchemaError::TooNew { unknown });
            }
        }
        Ok(Self { unknown, pending })
    }

    /// Returns the number of this program's migrations that are to be applied.
    #[must_use]
    pub fn pending_count(&self) -> usize {
        self.pending.len()
    }

    /// Returns the names of applied migrations that this program does not know.
    #[must_use]
    pub fn unknown_migrations(&self) -> &[String] {
        &self.unknown
    }

    /// Applies the migrations that are to be applied.
    ///
    /// # Errors
    /// Fails if the database fails. Those before the one that failed remain applied.
    pub async fn migrate(&self, db: &DatabaseConnection) -> Result<(), DbErr> {
        apply(db, &self.pending).await
    }
}

/// Applies the migrations before one to a new database, as a release that ended there did.
///
/// # Errors
/// Fails if the database fails.
pub async fn migrate_until(db: &DatabaseConnection, name: &str) -> Result<(), DbErr> {
    let before: Vec<&Migration> =
        MIGRATIONS.iter().take_while(|migration| migration.name() != name).collect();
    apply(db, &before).await
}

async fn apply(db: &DatabaseConnection, migrations: &[&Migration]) -> Result<(), DbErr> {
    if !migrations.is_empty() {
        history::create(db).await?;
    }
    for migration in migrations {
        migration.apply(db).await?;
    }
    Ok(())
}

fn names_unknown_here(mut names: BTreeSet<String>) -> Vec<String> {
    names.retain(|name| MIGRATIONS.iter().all(|known| known.name() != name));
    names.into_iter().collect()
}
