//! The outbox of e-mail, and the links of sign-ins.

use sea_orm_migration::prelude::*;

use crate::dialect;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0002_mail"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::execute(manager, include_str!("m0002_mail.sql")).await
    }
}
