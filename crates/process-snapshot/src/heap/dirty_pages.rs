//! The pages of some memory that were written to.
//!
//! The memory is made read-only. The first write to a page raises SIGSEGV, whose handler sets the page's flag, makes the
//! page writable and returns, so that the write is done again. Later writes to the page cost nothing, and whoever restores
//! the memory has to look at flagged pages only: the processor guarantees that no other page was written to.
//!
//! The handler follows signal-safety(7): it takes no lock, allocates nothing, makes no calls but mprotect(2) and
//! sigaction(2), keeps `errno`, and reads only atomics.

use std::{
    mem::{MaybeUninit, zeroed},
    ops::Range,
    ptr::{NonNull, null, null_mut},
    sync::{
        OnceLock,
        atomic::{AtomicPtr, Ordering},
    },
};

use rustix::param::page_size;

use super::page_flags::PageFlags;

thread_local! {
    /// The memory that this thread tracks, or null. Needs neither initialisation nor a destructor, so the handler may read it
    /// at any time.
    static TRACKED_PAGES: AtomicPtr<TrackedPages> = const { AtomicPtr::new(null_mut()) };
}

/// The action for SIGSEGV before ours, which every fault outside tracked memory is left to.
static PREVIOUS_ACTION: OnceLock<libc::sigaction> = OnceLock::new();

/// Tracks writes to memory by the thread that made it.
pub(super) struct DirtyPageTracker {
    /// Owned, but reached by the handler too: so it is a pointer from `Box::leak`, not a `Box`, whose uniqueness each move
    /// would claim anew.
    pages: NonNull<TrackedPages>,
}

struct TrackedPages {
    start: *mut u8,
    dirty: PageFlags,
    page_size: usize,
}

impl DirtyPageTracker {
    /// Tracks writes to `memory` from now on. Returns `None` where that is not possible: the memory does not begin on a page,
    /// the thread tracks other memory, or the kernel refuses one of the calls. The memory is writable then.
    ///
    /// # Safety
    /// The memory begins on a page. Up to the end of its last page it belongs to the caller and is used by this thread
    /// alone until the tracker is dropped. No system call is asked to write to it: the kernel fails with EFAULT instead of
    /// raising the signal.
    pub(super) unsafe fn start(memory: Range<*mut u8>) -> Option<Self> {
        let page_size = page_size();
        let count = memory.end.addr().checked_sub(memory.start.addr())?.div_ceil(page_size);
        // Miri has no signals and no mprotect(2).
        let is_possible = !cfg!(miri) && memory.start.addr().is_multiple_of(page_size);
        if !is_possible || !TRACKED_PAGES.with(is_null) || !install_fault_handler() {
            return None;
        }
        let pages = TrackedPages { start: memory.start, dirty: PageFlags::new(count), page_size };
        let pages = NonNull::from(Box::leak(Box::new(pages)));
        let tracker = Self { pages };
        TRACKED_PAGES.with(|tracked| tracked.store(pages.as_ptr(), Ordering::Relaxed));
        tracker.clear().then_some(tracker)
    }

    /// Counts every page as unwritten. Returns false if the kernel refuses; every page counts as written then.
    pub(super) fn clear(&self) -> bool {
        let pages = self.pages();
        let all = 0..pages.dirty.len();
        let is_protected = pages.protect(all.clone(), libc::PROT_READ);
        pages.dirty.fill(!is_protected);
        if !is_protected {
            pages.protect(all, libc::PROT_READ | libc::PROT_WRITE);
        }
        is_protected
    }

    /// Returns the bytes that may have been written to, in ascending ranges of offsets from the start of the memory. The
    /// last range may reach beyond the memory, to the end of its last page.
    pub(super) fn dirty_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let pages = self.pages();
        pages.dirty.set_ranges().map(|range| range.start * pages.page_size..range.end * pages.page_size)
    }

    fn pages(&self) -> &TrackedPages {
        // SAFETY: the pages live until the tracker is dropped, and nobody has a unique reference to them.
        unsafe { self.pages.as_ref() }
    }
}

impl Drop for DirtyPageTracker {
    fn drop(&mut self) {
        // Memory that the kernel keeps read-only cannot be helped by a second try.
        self.pages().protect(0..self.pages().dirty.len(), libc::PROT_READ | libc::PROT_WRITE);
        TRACKED_PAGES.with(|tracked| tracked.store(null_mut(), Ordering::Relaxed));
        // SAFETY: the pages came from `Box::leak`, and the handler does not find them any more.
        drop(unsafe { Box::from_raw(self.pages.as_ptr()) });
    }
}

impl TrackedPages {
    /// Sets the access to some pages; false if the kernel refuses.
    fn protect(&self, pages: Range<usize>, access: libc::c_int) -> bool {
        let start = self.start.wrapping_add(pages.start * self.page_size);
        // SAFETY: these pages are the caller's of `DirtyPageTracker::start`, whose writes to a read-only page the handler
        // lets through.
        unsafe { libc::mprotect(start.cast(), pages.len() * self.page_size, access) == 0 }
    }

    /// Makes the page at `address` writable and flags it. Returns true if it is one of these and was read-only.
    fn mark_dirty(&self, address: usize) -> bool {
        let Some(offset) = address.checked_sub(self.start.addr()) else { return false };
        let page = offset / self.page_size;
        self.dirty.set(page) && self.protect(page..page + 1, libc::PROT_READ | libc::PROT_WRITE)
    }
}

fn is_null(pages: &AtomicPtr<TrackedPages>) -> bool {
    pages.load(Ordering::Relaxed).is_null()
}

/// Installs the handler, once in a process; false if the kernel refuses.
fn install_fault_handler() -> bool {
    static IS_INSTALLED: OnceLock<bool> = OnceLock::new();
    *IS_INSTALLED.get_or_init(|| {
        // SAFETY: an action is plain data, for which zeros are a value.
        let mut action: libc::sigaction = unsafe { zeroed() };
        action.sa_sigaction = on_segfault as extern "C" fn(_, _, _) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        let mut previous = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: both point to actions; the first is read, and the second written if the call succeeds.
        unsafe {
            if libc::sigaction(libc::SIGSEGV, null(), previous.as_mut_ptr()) != 0 {
                return false;
            }
            // Stored before the handler can need it.
            PREVIOUS_ACTION.get_or_init(|| previous.assume_init());
            libc::sigaction(libc::SIGSEGV, &raw const action, null_mut()) == 0
        }
    })
}

extern "C" fn on_segfault(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel hands in a description of the signal, and for SIGSEGV that has an address. Tracked pages live for as
    // long as their thread's pointer names them. `errno` is the thread's own.
    unsafe {
        let errno = *libc::__errno_location();
        let address = (*info).si_addr().addr();
        let tracked = TRACKED_PAGES.with(|tracked| tracked.load(Ordering::Relaxed));
        let is_ours = tracked.as_ref().is_some_and(|pages| pages.mark_dirty(address));
        if !is_ours && let Some(previous) = PREVIOUS_ACTION.get() {
            // The instruction is done again and faults again, with the action that was there before.
            libc::sigaction(libc::SIGSEGV, previous, null_mut());
        }
        *libc::__errno_location() = errno;
    }
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use std::alloc::{Layout, alloc_zeroed, dealloc};

    use super::*;

    /// Some pages of zeros.
    struct Memory(*mut u8, Layout);

    impl Memory {
        fn of_pages(count: usize) -> Self {
            let layout = Layout::from_size_align(count * page_size(), page_size()).unwrap();
            // SAFETY: the layout has a size.
            Self(unsafe { alloc_zeroed(layout) }, layout)
        }

        fn range(&self) -> Range<*mut u8> {
            // SAFETY: the end of what was allocated.
            self.0..unsafe { self.0.add(self.1.size()) }
        }

        /// Tracks writes to the memory, which must outlive the tracker.
        fn track(&self) -> Option<DirtyPageTracker> {
            // SAFETY: the memory is this thread's, and each test drops it last.
            unsafe { DirtyPageTracker::start(self.range()) }
        }

        fn write(&self, page: usize) {
            // SAFETY: inside of what was allocated; volatile, since the compiler must not leave it out.
            unsafe { self.0.add(page * page_size() + 5).write_volatile(7) };
        }

        fn read(&self, page: usize) -> u8 {
            // SAFETY: as above.
            unsafe { self.0.add(page * page_size() + 5).read_volatile() }
        }
    }

    impl Drop for Memory {
        fn drop(&mut self) {
            // SAFETY: allocated with this layout, and not tracked any more.
            unsafe { dealloc(self.0, self.1) };
        }
    }

    fn dirty_pages(tracker: &DirtyPageTracker) -> Vec<Range<usize>> {
        let size = page_size();
        tracker.dirty_ranges().map(|bytes| bytes.start / size..bytes.end / size).collect()
    }

    #[test]
    fn just_the_written_pages_are_dirty() {
        let memory = Memory::of_pages(9);
        let tracker = memory.track().unwrap();
        assert_eq!((dirty_pages(&tracker).len(), memory.read(3)), (0, 0));
        for page in [8, 2, 1, 2, 4] {
            memory.write(page);
        }
        assert_eq!(dirty_pages(&tracker), [1..3, 4..5, 8..9]);
        assert_eq!((0..9).map(|page| memory.read(page)).collect::<Vec<_>>(), [0, 7, 7, 0, 7, 0, 0, 0, 7]);
        assert!(tracker.clear());
        assert!(dirty_pages(&tracker).is_empty());
        memory.write(4);
        assert_eq!(dirty_pages(&tracker), std::slice::from_ref(&(4..5)));
        drop(tracker);
        memory.write(0);
    }

    #[test]
    fn a_tracker_that_moves_goes_on_tracking() {
        let memory = Memory::of_pages(2);
        let mut moved = Vec::new();
        moved.push(memory.track().unwrap());
        moved.reserve(100);
        memory.write(1);
        let tracker = Box::new(moved.pop().unwrap());
        assert_eq!(dirty_pages(&tracker), std::slice::from_ref(&(1..2)));
        memory.write(0);
        assert_eq!(dirty_pages(&tracker), std::slice::from_ref(&(0..2)));
    }

    #[test]
    fn a_thread_tracks_one_memory() {
        let memory = [Memory::of_pages(2), Memory::of_pages(2)];
        let first = memory[0].track().unwrap();
        assert!(memory[1].track().is_none());
        memory[1].write(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let other = Memory::of_pages(1);
                let tracker = other.track().unwrap();
                other.write(0);
                assert_eq!(dirty_pages(&tracker).len(), 1);
            });
        });
        assert!(dirty_pages(&first).is_empty());
        drop(first);
        assert!(memory[1].track().is_some());
    }

    #[test]
    fn a_handler_keeps_errno() {
        let memory = Memory::of_pages(1);
        let _tracker = memory.track().unwrap();
        // SAFETY: `errno` is the thread's own.
        unsafe { *libc::__errno_location() = libc::ENOTTY };
        memory.write(0);
        assert_eq!(std::io::Error::last_os_error().raw_os_error(), Some(libc::ENOTTY));
    }

    #[test]
    fn memory_that_cannot_be_protected_is_not_tracked() {
        let memory = Memory::of_pages(2);
        // SAFETY: as for any memory of the test, only that it does not begin on a page.
        assert!(unsafe { DirtyPageTracker::start(memory.0.wrapping_add(8)..memory.range().end) }.is_none());
        memory.write(0);
        // No process has memory at the highest addresses: mprotect(2) fails.
        let nobodys =
            std::ptr::without_provenance_mut::<u8>(usize::MAX & !(page_size() - 1)).wrapping_sub(page_size());
        // SAFETY: there is no memory that anybody could use.
        assert!(unsafe { DirtyPageTracker::start(nobodys..nobodys.wrapping_add(page_size())) }.is_none());
        assert!(memory.track().is_some(), "a failed start leaves the thread free");
    }

    /// Runs in a process of its own, see below.
    #[test]
    #[ignore = "ends the process"]
    fn another_fault() {
        let memory = Memory::of_pages(1);
        let _tracker = memory.track().unwrap();
        // SAFETY: none: nothing can be written there, and the process is to end for it.
        unsafe { std::hint::black_box(8 as *mut u8).write_volatile(1) };
    }

    #[test]
    fn other_faults_end_the_process() {
        use std::os::unix::process::ExitStatusExt as _;
        let name = "heap::dirty_pages::tests::another_fault";
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let ended = child.args([name, "--exact", "--ignored"]).output().unwrap();
        assert_eq!(ended.status.signal(), Some(libc::SIGSEGV), "{ended:?}");
    }
}
