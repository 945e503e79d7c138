//! The ports of `connections`.

mod app_secrets;
mod calls;
mod connection;
mod gates;
mod stored;

use kernel::{StoreError, id::WorkspaceId};
use sea_orm::{EntityTrait as _, QuerySelect as _};

use crate::{entity::workspaces, error::OrStoreError as _, tx::StoreTx};
pub(crate) use app_secrets::app_secret;
pub(crate) use stored::without_gate;

impl StoreTx {
    /// Makes transactions that count what a workspace has wait for each other.
    async fn lock_workspace(&self, workspace: WorkspaceId) -> Result<(), StoreError> {
        workspaces::Entity::find_by_id(workspace).lock_exclusive().one(self.read()).await.or_store_error()?;
        Ok(())
    }
}
