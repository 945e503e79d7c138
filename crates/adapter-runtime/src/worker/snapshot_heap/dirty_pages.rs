//! Which pages of some memory were written to.
//!
//! The memory may only be read, and the first write to a page is stopped by the processor: a handler of its signal
//! notes the page, lets it be written to, and the write is done again. From then on the page costs nothing more, and
//! whoever puts the memory back has to look at those pages alone. That nothing else was written to is sure.
#![expect(unsafe_code, reason = "each block says why it holds")]

use std::{
    cell::Cell,
    mem::{MaybeUninit, zeroed},
    ops::Range,
    ptr::{null, null_mut},
    sync::OnceLock,
};

use rustix::param::page_size;

thread_local! {
    /// What this thread watches; it has no destructor, so that the handler may look at any time.
    static TRACKED_PAGES: Cell<*const TrackedPages> = const { Cell::new(null()) };
}

/// What was done about such a signal before: what is not about watched memory is still done so.
static PREVIOUS_ACTION: OnceLock<libc::sigaction> = OnceLock::new();

/// Memory that is watched by the thread that made this.
pub(super) struct DirtyPageTracker(Box<TrackedPages>);

struct TrackedPages {
    start_address: usize,
    dirty: Box<[Cell<bool>]>,
    page_size: usize,
}

impl DirtyPageTracker {
    /// Watches `memory` from now on; nothing where the system does not let us, or if the thread watches other memory.
    ///
    /// # Safety
    /// The memory begins on a page, and up to the end of its last page belongs to whoever calls and to this thread
    /// alone, until this is dropped. The system is not asked to write into it.
    pub(super) unsafe fn start(memory: Range<*mut u8>) -> Option<Self> {
        let (size, first) = (page_size(), memory.start as usize);
        let count = (memory.end as usize - first).div_ceil(size);
        if !first.is_multiple_of(size) || !TRACKED_PAGES.get().is_null() || !install_fault_handler() {
            return None;
        }
        let pages = Box::new(TrackedPages {
            start_address: first,
            dirty: vec![Cell::new(false); count].into(),
            page_size: size,
        });
        TRACKED_PAGES.set(&raw const *pages);
        let watch = Self(pages);
        watch.clear().then_some(watch)
    }

    /// Takes all pages for unwritten; whether that was possible. If not, all are taken for written.
    pub(super) fn clear(&self) -> bool {
        let all = 0..self.0.dirty.len();
        let watched = self.0.protect(all.clone(), libc::PROT_READ);
        self.0.dirty.iter().for_each(|page| page.set(!watched));
        watched || {
            self.0.protect(all, libc::PROT_READ | libc::PROT_WRITE);
            false
        }
    }

    /// The bytes that may have been written to, counted from the first, in pieces as long as can be.
    pub(super) fn dirty_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let pages = &self.0;
        let mut next = 0;
        std::iter::from_fn(move || {
            let rest = pages.dirty.get(next..)?;
            let start = next + rest.iter().position(Cell::get)?;
            let length = pages.dirty[start..].iter().take_while(|page| page.get()).count();
            next = start + length;
            Some(start * pages.page_size..next * pages.page_size)
        })
    }
}

impl Drop for DirtyPageTracker {
    fn drop(&mut self) {
        // What cannot be written to any more is not given back in a better state by trying again.
        self.0.protect(0..self.0.dirty.len(), libc::PROT_READ | libc::PROT_WRITE);
        TRACKED_PAGES.set(null());
    }
}

impl TrackedPages {
    fn protect(&self, pages: Range<usize>, access: libc::c_int) -> bool {
        let start = (self.start_address + pages.start * self.page_size) as *mut libc::c_void;
        // SAFETY: these pages are the caller's of `Watch::start`, who writes to them only through `note`.
        unsafe { libc::mprotect(start, pages.len() * self.page_size, access) == 0 }
    }

    /// Lets the page at `address` be written to; whether it is one of these and could not be until now.
    fn mark_dirty(&self, address: usize) -> bool {
        let Some(page) = address.checked_sub(self.start_address).map(|offset| offset / self.page_size) else {
            return false;
        };
        match self.dirty.get(page) {
            Some(written) if !written.replace(true) => {
                self.protect(page..page + 1, libc::PROT_READ | libc::PROT_WRITE)
            }
            _ => false,
        }
    }
}

/// Sees to it that writes to watched memory are noted; whether that is so.
fn install_fault_handler() -> bool {
    static IS_INSTALLED: OnceLock<bool> = OnceLock::new();
    *IS_INSTALLED.get_or_init(|| {
        // SAFETY: an action is plain data, for which zeros are a value.
        let mut action: libc::sigaction = unsafe { zeroed() };
        action.sa_sigaction = on_segfault as extern "C" fn(_, _, _) as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        let mut before = MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: both point to actions; the first is read, and the second written if it succeeds.
        unsafe {
            if libc::sigaction(libc::SIGSEGV, null(), before.as_mut_ptr()) != 0 {
                return false;
            }
            // Known before the handler can need it.
            PREVIOUS_ACTION.get_or_init(|| before.assume_init());
            libc::sigaction(libc::SIGSEGV, &raw const action, null_mut()) == 0
        }
    })
}

/// The handler. It calls nothing that a handler may not, and keeps what the interrupted code may look at.
extern "C" fn on_segfault(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system hands in what it knows of the signal, and for this one that is an address. What is watched
    // lives for as long as it is named there, and is looked at by its own thread alone. `errno` is the thread's own.
    unsafe {
        let errno = *libc::__errno_location();
        let (address, watched) = ((*info).si_addr() as usize, TRACKED_PAGES.get());
        let noted = watched.as_ref().is_some_and(|pages| pages.mark_dirty(address));
        if !noted && let Some(before) = PREVIOUS_ACTION.get() {
            // The write is done again, and meets who was there before.
            libc::sigaction(libc::SIGSEGV, before, null_mut());
        }
        *libc::__errno_location() = errno;
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::{Layout, alloc_zeroed, dealloc};

    use super::*;

    /// Some pages of memory, written to like any other.
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
            // SAFETY: allocated with this layout, and watched no more.
            unsafe { dealloc(self.0, self.1) };
        }
    }

    fn dirty_pages(watch: &DirtyPageTracker) -> Vec<Range<usize>> {
        let size = page_size();
        watch.dirty_ranges().map(|bytes| bytes.start / size..bytes.end / size).collect()
    }

    #[test]
    fn just_the_written_pages_are_noted() {
        let memory = Memory::of_pages(9);
        // SAFETY: the memory outlives the watch, and is this thread's.
        let watch = unsafe { DirtyPageTracker::start(memory.range()) }.unwrap();
        assert_eq!((dirty_pages(&watch).len(), memory.read(3)), (0, 0));
        for page in [8, 2, 1, 2, 4] {
            memory.write(page);
        }
        assert_eq!(dirty_pages(&watch), [1..3, 4..5, 8..9]);
        assert_eq!((0..9).map(|page| memory.read(page)).collect::<Vec<_>>(), [0, 7, 7, 0, 7, 0, 0, 0, 7]);
        assert!(watch.clear());
        assert!(dirty_pages(&watch).is_empty());
        memory.write(4);
        assert_eq!(dirty_pages(&watch), std::slice::from_ref(&(4..5)));
        drop(watch);
        memory.write(0);
    }

    #[test]
    fn a_thread_watches_one_thing() {
        let memory = [Memory::of_pages(2), Memory::of_pages(2)];
        // SAFETY: as above.
        let start = |memory: &Memory| unsafe { DirtyPageTracker::start(memory.range()) };
        let first = start(&memory[0]).unwrap();
        assert!(start(&memory[1]).is_none());
        drop(first);
        assert!(start(&memory[1]).is_some());
    }

    /// Runs in a process of its own, see below.
    #[test]
    #[ignore = "ends the process"]
    fn another_fault() {
        let memory = Memory::of_pages(1);
        // SAFETY: as above.
        let _watch = unsafe { DirtyPageTracker::start(memory.range()) }.unwrap();
        // SAFETY: none: nothing can be written there, and the process is to end for it.
        unsafe { std::hint::black_box(8 as *mut u8).write_volatile(1) };
    }

    #[test]
    fn other_faults_end_the_process() {
        use std::os::unix::process::ExitStatusExt as _;
        let name = "worker::snapshot_heap::dirty_pages::tests::another_fault";
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        let ended = child.args([name, "--exact", "--ignored"]).output().unwrap();
        assert_eq!(ended.status.signal(), Some(libc::SIGSEGV), "{ended:?}");
    }
}
