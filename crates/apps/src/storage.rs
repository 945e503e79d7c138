//! Stored code: which versions keep their files, and the upkeep of what is stored.

use async_trait::async_trait;
use kernel::{StoreError, Timestamp, id::WorkspaceId};

/// Newest versions of an app that keep their files whatever happens. Older ones keep them while the app is at the version, or an
/// open plan, a draft, an open dead letter, or a run that has not ended names it.
pub const KEPT_VERSIONS: u32 = 50;

/// Reads of what a workspace stores.
#[async_trait]
pub trait StoredCodeRead: Send + Sync {
    /// Returns the bytes of code that a workspace stores: files of versions and drafts, each text once, with what versions and
    /// imports say beside them.
    async fn stored_code_bytes(&self, workspace: WorkspaceId) -> Result<u64, StoreError>;
}

/// The upkeep of stored code.
#[async_trait]
pub trait CodeUpkeep: Send + Sync {
    /// Deletes some of the files that nothing needs, and counts some of the rows that earlier releases left uncounted. Returns
    /// true if there is more to do now.
    async fn keep_up_code(&self, now: Timestamp) -> Result<bool, StoreError>;
}
