//! Signatures of webhook calls, on SQLite.

use sea_orm_migration::{prelude::*, sea_orm::DbBackend};

use crate::dialect;

/// A signature's digest begins with the seconds since 1970 as eight bytes, so its first four bytes are zero. Any other
/// digest begins so once in 2^32.
const MOVE_SIGNATURES: &str = "\
    INSERT INTO repeat_signatures (expires_at, webhook_id, signature) \
    SELECT expires_at, webhook_id, substr(digest, 1, 16) FROM webhook_keys WHERE substr(digest, 1, 4) = X'00000000'; \
    DELETE FROM webhook_keys WHERE substr(digest, 1, 4) = X'00000000'";

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0015_signatures"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::execute(manager, include_str!("m0015_signatures.sql")).await?;
        if manager.get_database_backend() == DbBackend::Sqlite {
            manager.get_connection().execute_unprepared(MOVE_SIGNATURES).await?;
        }
        Ok(())
    }
}
