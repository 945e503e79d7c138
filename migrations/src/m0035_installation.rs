//! The state of the installation: the check of its master key, the pause, and the programs that may run on it.

use sea_orm_migration::prelude::*;

use crate::dialect;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0035_installation"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::execute(manager, include_str!("m0035_installation.sql")).await
    }
}
