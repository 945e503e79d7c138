//! Those among whom threads and connections are shared out.

use backend_data::{ProjectId, ProjectRef, ShareId};

/// The key of a share: the one that projects name, or that of a project which names none.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ShareKey {
    Named(ShareId),
    Project(ProjectId),
}

impl From<&ProjectRef> for ShareKey {
    fn from(project: &ProjectRef) -> Self {
        project.share.map_or_else(|| Self::Project(project.id.clone()), Self::Named)
    }
}
