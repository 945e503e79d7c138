//! One change of the schema, and how it is applied.

use std::pin::Pin;

use sea_orm::{
    ConnectionTrait as _, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, TransactionTrait as _,
};

use crate::{dialect, history};

/// A change of the schema that is applied once, as a whole or not at all.
#[derive(Debug)]
pub struct Migration {
    name: &'static str,
    steps: &'static [Step],
}

/// A part of a migration. The parts are applied in order, in one transaction.
#[derive(Debug)]
pub(crate) enum Step {
    /// Statements with the placeholders of [`dialect`].
    Sql(&'static str),
    /// The same, for SQLite only.
    Sqlite(&'static str),
    /// The same, for PostgreSQL only.
    Postgres(&'static str),
    /// Changes of rows that SQL alone cannot make.
    Rust(RustStep),
}

pub(crate) type RustStep = for<'t> fn(&'t DatabaseTransaction) -> StepFuture<'t>;
pub(crate) type StepFuture<'t> = Pin<Box<dyn Future<Output = Result<(), DbErr>> + Send + 't>>;

impl Migration {
    pub(crate) const fn new(name: &'static str, steps: &'static [Step]) -> Self {
        Self { name, steps }
    }

    /// Returns the name by which databases record the migration.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Applies and records the migration. Nothing of it remains if that fails, or if the program is killed meanwhile.
    pub(crate) async fn apply(&self, db: &DatabaseConnection) -> Result<(), DbErr> {
        let tx = db.begin().await?;
        for step in self.steps {
            step.apply(&tx).await?;
        }
        history::record(&tx, self.name).await?;
        tx.commit().await
    }
}

impl Step {
    async fn apply(&self, tx: &DatabaseTransaction) -> Result<(), DbErr> {
        let is_sqlite = tx.get_database_backend() == DbBackend::Sqlite;
        match self {
            Self::Sql(sql) => dialect::execute(tx, sql).await,
            Self::Sqlite(sql) if is_sqlite => dialect::execute(tx, sql).await,
            Self::Postgres(sql) if !is_sqlite => dialect::execute(tx, sql).await,
            Self::Sqlite(_) | Self::Postgres(_) => Ok(()),
            Self::Rust(step) => step(tx).await,
        }
    }
}
