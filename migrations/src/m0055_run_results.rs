//! Results of runs.

use sea_orm_migration::prelude::*;

use crate::dialect;

pub(crate) struct Migration;

impl MigrationName for Migration {
    fn name(&self) -> &'static str {
        "m0055_run_results"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        dialect::execute(manager, include_str!("m0055_run_results.sql")).await
    }
}
