//! What is read to explain a run.

use ::runs::{Run, RunStatus, diagnosis::DiagnosisRead};
use async_trait::async_trait;
use kernel::{Id, StoreError};
use uuid::Uuid;

use crate::{
    Store,
    sql::{Sql, column},
};

/// How many runs of the app before this one are looked through. Without a bound, an app that never succeeded would
/// have all of its history read.
const LOOK_BACK: u32 = 2000;

#[async_trait]
impl DiagnosisRead for Store {
    async fn last_good(&self, run: &Run) -> Result<Option<Run>, StoreError> {
        use ::runs::RunsRead as _;
        let mut sql = Sql::new(
            "SELECT id FROM (SELECT id, workspace_id, automation_id, status FROM runs WHERE app_id = ",
        );
        sql.bind(run.app.uuid()).push(" AND id < ").bind(run.id.uuid());
        sql.push(&format!(" ORDER BY id DESC LIMIT {LOOK_BACK}) AS earlier WHERE status = "));
        sql.bind(RunStatus::Succeeded.as_str()).push(" AND workspace_id = ").bind(run.workspace.uuid());
        match run.automation {
            Some(automation) => sql.push(" AND automation_id = ").bind(automation.uuid()),
            None => sql.push(" AND automation_id IS NULL"),
        };
        sql.push(" ORDER BY id DESC LIMIT 1");
        let Some(found) = sql.fetch_optional(self.read()).await? else { return Ok(None) };
        self.run(run.workspace, Id::from_uuid(column::<Uuid>(&found, 0)?)).await
    }
}
