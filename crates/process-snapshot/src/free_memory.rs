//! Memory that the system's allocator keeps although nothing uses it.

#![expect(unsafe_code, reason = "the allocator's own functions have no safe wrappers")]

/// Gives the free memory of this process back to the system. It takes a millisecond or so, during which other threads may wait for
/// memory. Does nothing with an allocator other than that of the GNU C library.
pub fn release_free_memory() {
    #[cfg(target_env = "gnu")]
    // SAFETY: malloc_trim(3) may be called by any thread at any time, and touches no memory that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}
