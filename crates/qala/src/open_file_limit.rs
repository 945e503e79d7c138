//! The limit of open files and connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit to the hard limit. The soft one is low for programs that use `select(2)`; Qala needs a
/// descriptor for each connection and for each open file of a project.
pub(crate) fn raise_open_file_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }) {
        tracing::warn!(%error, ?current, ?maximum, "cannot raise the limit of open files");
    }
}
