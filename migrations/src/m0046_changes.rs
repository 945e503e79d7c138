//! Events that are about no app, for those who have a role.

use sea_orm_migration::{prelude::*, sea_orm::DbBackend};

use crate::dialect;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0046_changes"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // SQLite cannot make a column nullable; its database has one node, which is starting.
        let sql = match manager.get_database_backend() {
            DbBackend::Sqlite => include_str!("m0046_changes_sqlite.sql"),
            _ => include_str!("m0046_changes_postgres.sql"),
        };
        dialect::execute(manager, sql).await
    }
}
