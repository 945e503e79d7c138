//! Locations of the rows of backend projects.

use backend_data::ProjectRef;
use kernel::id::ProjectId;

use crate::{Problem, rows_problem};

/// Returns the location of the rows of a project, without a share.
///
/// # Errors
/// [`Problem`] if the row engine does not accept the id.
pub(crate) fn unshared(project: ProjectId, shard: u16) -> Result<ProjectRef, Problem> {
    let id = project.to_string().parse().map_err(rows_problem)?;
    Ok(ProjectRef::new(id, shard))
}
