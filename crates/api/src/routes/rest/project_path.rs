//! Paths of the data API.

use kernel::id::ProjectId;

/// Returns the project in a path of the data API, `/v1/projects/{projectId}/…`. Ids have no characters that are
/// encoded.
pub(super) fn project_in_path(path: &str) -> Option<ProjectId> {
    path.split('/').nth(3)?.parse().ok()
}
