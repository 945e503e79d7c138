//! Connections with their sealed secrets, and counts of requests by gate.

use sea_orm_migration::{prelude::*, sea_orm::DbBackend};

use crate::dialect;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0047_connections"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // SQLite cannot drop a constraint; its database has one node, which is starting.
        let gates = match manager.get_database_backend() {
            DbBackend::Sqlite => include_str!("m0047_connections_sqlite.sql"),
            _ => include_str!("m0047_connections_postgres.sql"),
        };
        dialect::execute(manager, gates).await?;
        dialect::execute(manager, include_str!("m0047_connections.sql")).await
    }
}
