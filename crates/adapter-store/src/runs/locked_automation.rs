//! The automation of a run, locked before the run's entry in the queue.

use ::runs::{Automation, RunsTx as _};
use kernel::{
    StoreError,
    id::{RunId, WorkspaceId, kind},
};
use sea_orm::{ColumnTrait as _, EntityTrait as _, QueryFilter as _, QuerySelect as _};

use crate::{
    entity::{column::DbId, runs},
    error::OrStoreError as _,
    tx::StoreTx,
};

/// Returns the automation of a run, locked until the transaction ends; `None` if it has none, or it is gone.
pub(super) async fn automation_of_run_for_update(
    tx: &mut StoreTx,
    workspace: WorkspaceId,
    run: RunId,
) -> Result<Option<Automation>, StoreError> {
    let automation: Option<Option<DbId<kind::Automation>>> = runs::Entity::find_by_id(run)
        .filter(runs::Column::WorkspaceId.eq(DbId(workspace)))
        .select_only()
        .column(runs::Column::AutomationId)
        .into_tuple()
        .one(tx.read())
        .await
        .or_store_error()?;
    match automation.flatten() {
        Some(id) => tx.automation_for_update(workspace, id.0).await,
        None => Ok(None),
    }
}
