//! Cutting a process off from what it has from its parent.

#![expect(unsafe_code, reason = "descriptors and namespaces belong to the whole process")]

use rustix::thread::{UnshareFlags, unshare_unsafe};

/// A namespace of namespaces(7) that a process can have for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespace {
    /// Users and capabilities. The kernel permits it to a process of one thread only.
    User,
    /// Network devices, addresses and ports; a new one has none but a loopback device that is down.
    Network,
}

/// Closes every descriptor above stderr.
///
/// Call it first thing in `main`: a descriptor that a value owns would be closed under it.
pub fn close_inherited_descriptors() {
    // SAFETY: by the contract no value in this process owns a descriptor above 2 yet.
    unsafe {
        libc::close_range(3, libc::c_uint::MAX, 0);
    }
}

/// Moves this process into a new namespace. Returns false if the kernel refuses.
#[must_use]
pub fn unshare_namespace(namespace: Namespace) -> bool {
    let flag = match namespace {
        Namespace::User => UnshareFlags::NEWUSER,
        Namespace::Network => UnshareFlags::NEWNET,
    };
    // SAFETY: the function is unsafe because of the flag for descriptors, which is not used.
    unsafe { unshare_unsafe(flag) }.is_ok()
}

/// Returns true if this process has one thread; `None` if neither the kernel nor `/proc` tells.
pub(crate) fn has_one_thread() -> Option<bool> {
    // SAFETY: with one thread the flag has no effect, with several it is an error (unshare(2)).
    if unsafe { libc::unshare(libc::CLONE_THREAD) } == 0 {
        return Some(true);
    }
    if std::io::Error::last_os_error().raw_os_error() == Some(libc::EINVAL) {
        return Some(false);
    }
    // Container runtimes forbid unshare(2) as a whole.
    Some(std::fs::read_dir("/proc/self/task").ok()?.count() == 1)
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use super::*;

    #[test]
    fn a_second_thread_is_noticed() {
        // The harness runs each test on a thread of its own beside the main one.
        assert_eq!(has_one_thread(), Some(false));
    }
}
