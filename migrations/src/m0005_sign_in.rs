//! Details of sessions, device logins, passkeys, and identities at other issuers.

use sea_orm_migration::prelude::*;

use crate::dialect;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0005_sign_in"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::execute(manager, include_str!("m0005_sign_in.sql")).await
    }
}
