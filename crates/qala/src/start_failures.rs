//! Messages for the most frequent reasons for which a server does not start, which say what to do.

use std::{
    io::{self, ErrorKind},
    net::SocketAddr,
    path::Path,
};

use anyhow::{Context as _, anyhow};

/// Free bytes below which a disk is called full: a new database needs more.
const FULL_BELOW: u64 = 8 << 20;

/// Names the option to use if the address of a listener is taken.
pub(crate) fn explain_bind<T>(bound: io::Result<T>, address: SocketAddr) -> anyhow::Result<T> {
    bound.map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => anyhow!(
            "another program listens on {address}: stop it, or start with another address, such as --listen {}:{}",
            address.ip(),
            address.port().checked_add(1).unwrap_or(7420)
        ),
        _ => anyhow!(error),
    })
    .with_context(|| format!("--listen: cannot listen on {address}"))
}

/// Returns a clause for a message if the disk of a directory is full, and nothing otherwise.
pub(crate) fn full_disk(directory: &Path) -> String {
    let free = rustix::fs::statvfs(directory).map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    match free {
        Ok(free) if free < FULL_BELOW => format!(
            " (the disk of {} has {} KiB left: free some space, or choose another directory with --data-dir)",
            directory.display(),
            free >> 10
        ),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_address_is_told_apart() {
        let address: SocketAddr = "127.0.0.1:7420".parse().unwrap();
        let explain =
            |kind: ErrorKind| format!("{:#}", explain_bind::<()>(Err(kind.into()), address).unwrap_err());
        let taken = explain(ErrorKind::AddrInUse);
        assert!(taken.ends_with("another address, such as --listen 127.0.0.1:7421"), "{taken}");
        let refused = explain(ErrorKind::PermissionDenied);
        assert!(refused.starts_with("--listen: cannot listen on 127.0.0.1:7420: "), "{refused}");
        assert!(!refused.contains("another"), "{refused}");
    }

    #[test]
    fn a_disk_with_space_is_not_mentioned() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(full_disk(folder.path()), "");
        assert_eq!(full_disk(Path::new("/no/such/directory")), "");
    }
}
