//! The reservation of renewals of access tokens, so that one node at a time renews a token.

use sea_orm_migration::prelude::*;

use crate::dialect;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0050_connection_renewals"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::execute(manager, "ALTER TABLE connections ADD COLUMN renewal_until bigint;").await
    }
}
