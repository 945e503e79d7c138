//! State about credentials that the process keeps between requests.

use super::{last_used::LastUsedBuffer, project_key_cache::ProjectKeyCache};

/// Project keys that were looked up recently, and the last use of each credential.
#[derive(Default)]
pub struct CredentialCache {
    pub(super) keys: ProjectKeyCache,
    pub(super) last_used: LastUsedBuffer,
}
