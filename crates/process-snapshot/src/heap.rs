//! A heap that is reset to a snapshot.
//!
//! Everything allocated before [`SnapshotHeap::freeze`] lies in one region (the base), and freezing copies the region.
//! [`SnapshotHeap::reset`] writes the copy back and frees every block allocated since (the transient blocks). The bytes
//! are then exactly those of the freeze, at the price of copying the pages that were written to.
//!
//! A frozen heap can be extended: blocks allocated meanwhile lie in the base too, and the snapshot has them until the extension
//! is discarded. Then the heap is as it was frozen.
//!
//! Addresses repeat from one reset to the next. A transient block is overwritten with zeros before it is freed, so that
//! nothing allocated later can read what it held; [`MAX_COPIED_BLOCK`] names the one exception.

#![expect(unsafe_code, reason = "an allocator hands out raw memory")]

mod allocator;
mod base_region;
mod dirty_pages;
mod page_flags;
mod transient_list;

use std::{
    cell::{Cell, OnceCell, RefCell},
    mem::MaybeUninit,
    ptr::{copy_nonoverlapping, null_mut},
    rc::Rc,
};

use self::{base_region::BaseRegion, dirty_pages::DirtyPageTracker, transient_list::TransientList};
use crate::memory_meter::MemoryMeter;

pub(crate) use allocator::SnapshotAllocator;

/// Resets between two at which every page counts as unwritten again. Pages stay writable once they were written to, so
/// without this an invocation that writes to all of them would make every later reset copy all of them.
const RETRACK_INTERVAL: u32 = 256;
/// Bytes of the largest block that is copied to grow. A larger one goes to the system's `realloc`, which moves it without
/// copying where it can and does not overwrite the memory it leaves.
const MAX_COPIED_BLOCK: usize = 1 << 20;
/// Alignment of every block, in bytes.
const ALIGN: usize = 16;

/// The base region, its snapshots, and the blocks allocated since.
///
/// The fields are dropped in this order: the tracker must end before the region that it protects.
pub(crate) struct SnapshotHeap {
    transient: TransientList,
    /// True if new blocks are transient ones.
    is_frozen: Cell<bool>,
    /// The state of the freeze.
    root: OnceCell<Snapshot>,
    /// The state with the extension.
    extended: RefCell<Option<Snapshot>>,
    /// `None` before the freeze, and where writes cannot be tracked: all bytes are copied back then.
    dirty_pages: RefCell<Option<DirtyPageTracker>>,
    base: BaseRegion,
    reset_count: Cell<u32>,
    meter: Rc<MemoryMeter>,
}

/// The bytes in use of the base region.
struct Snapshot {
    bytes: Box<[MaybeUninit<u8>]>,
    /// Reading of the meter.
    used: usize,
}

impl SnapshotHeap {
    pub(crate) fn new(meter: Rc<MemoryMeter>) -> Rc<Self> {
        Rc::new(Self {
            transient: TransientList::default(),
            is_frozen: Cell::new(false),
            root: OnceCell::new(),
            extended: RefCell::default(),
            dirty_pages: RefCell::default(),
            base: BaseRegion::new(),
            reset_count: Cell::new(0),
            meter,
        })
    }

    /// Takes the snapshot. Every block allocated from here on lives until it is freed or the heap is reset. A second
    /// call changes nothing.
    pub(crate) fn freeze(&self) {
        if self.root.get().is_none() {
            self.root.get_or_init(|| self.take_snapshot());
            self.start_tracking();
        }
    }

    /// Restores the bytes of the freeze, or of the extension, and frees every block allocated since. Does nothing before the freeze.
    ///
    /// # Safety
    /// No code runs in the runtime, and nothing that is used later points to a block allocated since.
    pub(crate) unsafe fn reset(&self) {
        if !self.is_frozen() {
            return;
        }
        let extended = self.extended.borrow();
        let Some(snapshot) = extended.as_ref().or(self.root.get()) else { return };
        // SAFETY: the caller's promise; pointers to these blocks in the base are overwritten below.
        unsafe { self.transient.free_all() };
        match &*self.dirty_pages.borrow() {
            None => self.base.restore(&snapshot.bytes, 0..snapshot.bytes.len()),
            Some(tracker) => {
                tracker.dirty_ranges().for_each(|dirty| self.base.restore(&snapshot.bytes, dirty));
                self.reset_count.update(|count| count.wrapping_add(1));
                if self.reset_count.get().is_multiple_of(RETRACK_INTERVAL) {
                    tracker.clear();
                }
            }
        }
        self.meter.reset(snapshot.used);
    }

    /// Begins an extension: blocks lie in the base until [`SnapshotHeap::end_extension`]. Does nothing before the freeze.
    ///
    /// # Safety
    /// As for [`SnapshotHeap::discard_extension`], which this begins with.
    pub(crate) unsafe fn begin_extension(&self) {
        // SAFETY: the caller's promise.
        unsafe { self.discard_extension() };
        if self.is_frozen() {
            self.dirty_pages.take();
            self.is_frozen.set(false);
        }
    }

    /// Ends an extension: resets go back to the bytes of now.
    pub(crate) fn end_extension(&self) {
        if self.root.get().is_some() && !self.is_frozen() {
            let snapshot = self.take_snapshot();
            self.extended.replace(Some(snapshot));
            self.start_tracking();
        }
    }

    /// Restores the bytes of the freeze, and frees every block allocated since, those of an extension too, whether or not it was
    /// ended. Does nothing before the freeze.
    ///
    /// # Safety
    /// No code runs in the runtime, and nothing that is used later points to a block allocated since the freeze.
    pub(crate) unsafe fn discard_extension(&self) {
        let Some(root) = self.root.get() else { return };
        if self.is_frozen() && self.extended.borrow().is_none() {
            // SAFETY: the caller's promise.
            unsafe { self.reset() };
            return;
        }
        // SAFETY: the caller's promise; pointers to these blocks in the base are overwritten below.
        unsafe { self.transient.free_all() };
        self.extended.take();
        // Before all of the base is written to, so that it raises no signals.
        self.dirty_pages.take();
        self.base.truncate(root.bytes.len());
        self.base.restore(&root.bytes, 0..root.bytes.len());
        self.meter.reset(root.used);
        self.start_tracking();
    }

    fn take_snapshot(&self) -> Snapshot {
        Snapshot { bytes: self.base.freeze(), used: self.meter.used() }
    }

    /// Makes new blocks transient ones, and tracks which pages of the base are written to.
    fn start_tracking(&self) {
        // SAFETY: the region begins on a page and reaches to the end of its last page, and it is this heap's, which stays on
        // this thread. No address in it is handed to the system to be written to: QuickJS makes no system calls with its
        // memory, and Rust copies bytes out of it first. The tracker is dropped before the region (field order).
        let tracker = unsafe { DirtyPageTracker::start(self.base.used_range()) };
        self.dirty_pages.replace(tracker);
        self.is_frozen.set(true);
    }

    /// Returns true if only the pages that were written to are copied back.
    pub(crate) fn tracks_dirty_pages(&self) -> bool {
        self.dirty_pages.borrow().is_some()
    }

    /// Returns true if blocks exist that were allocated since the freeze.
    pub(crate) fn has_transient_blocks(&self) -> bool {
        !self.transient.is_empty()
    }

    #[inline]
    fn is_frozen(&self) -> bool {
        self.is_frozen.get()
    }

    #[inline]
    fn allocate(&self, size: usize) -> *mut u8 {
        let Some(size) = rounded_size(size) else { return null_mut() };
        if self.is_frozen() { self.transient.allocate(size) } else { self.base.allocate(size) }
    }

    /// Resizes a transient block and meters the difference. Returns null if there is no memory; the block is as it was then.
    ///
    /// # Safety
    /// `ptr` came from [`TransientList::allocate`] of this heap, has `old_size` bytes and was not freed.
    #[inline]
    unsafe fn resize_transient(&self, ptr: *mut u8, old_size: usize, new_size: usize) -> *mut u8 {
        let Some(new_size) = rounded_size(new_size) else { return null_mut() };
        if new_size > old_size && !self.meter.try_admit(new_size - old_size) {
            return null_mut();
        }
        let resized = if new_size > old_size && old_size <= MAX_COPIED_BLOCK {
            let moved = self.transient.allocate(new_size);
            if !moved.is_null() {
                // SAFETY: the caller's promise; the new block is another one, and longer.
                unsafe {
                    copy_nonoverlapping(ptr, moved, old_size);
                    self.transient.free(ptr);
                }
            }
            moved
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.transient.resize(ptr, old_size, new_size) }
        };
        if resized.is_null() {
            self.meter.record_alloc(None);
            return null_mut();
        }
        self.meter.record_free(old_size);
        self.meter.record_alloc(Some(new_size));
        resized
    }

    /// # Safety
    /// `ptr` came from [`SnapshotHeap::allocate`] and was not freed.
    #[inline]
    unsafe fn free(&self, ptr: *mut u8) {
        if !self.base.contains(ptr) {
            // SAFETY: the caller's promise; a block outside the base is a transient one.
            unsafe { self.transient.free(ptr) };
        } else if !self.is_frozen() {
            // After the freeze a base block stays as it is: a reset needs it again.
            // SAFETY: the caller's promise.
            unsafe { self.base.free(ptr) };
        }
    }
}

/// Rounds a request up to the size of its block; `None` if no block is that large.
#[inline]
fn rounded_size(size: usize) -> Option<usize> {
    size.checked_next_multiple_of(ALIGN).filter(|size| *size <= isize::MAX as usize / 2)
}

/// Returns the size of a block, base or transient: both headers have it two words before the block.
///
/// # Safety
/// `ptr` came from [`SnapshotHeap::allocate`] and was not freed.
#[inline]
unsafe fn block_size(ptr: *mut u8) -> usize {
    // SAFETY: the caller's promise; the word is aligned, since blocks are aligned to 16 bytes.
    unsafe { ptr.sub(2 * size_of::<usize>()).cast::<usize>().read() }
}

#[cfg(test)]
mod tests;
