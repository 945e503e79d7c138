//! The region in which blocks lie that are allocated before the freeze.

use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error},
    cell::{Cell, RefCell},
    collections::BTreeMap,
    mem::MaybeUninit,
    ops::Range,
    ptr::{NonNull, copy_nonoverlapping, null_mut},
};

use rustix::param::page_size;

use super::{ALIGN, block_size};

/// Bytes of the region, more than a runtime, its prelude and the code of a large app need. Pages that are never touched cost
/// nothing.
const REGION_SIZE: usize = 16 << 20;
/// Bytes before a block; the first word of them is the block's size.
const HEADER_SIZE: usize = ALIGN;

/// A bump allocator with a free list, while it is not frozen.
pub(super) struct BaseRegion {
    /// Begins on a page.
    start: NonNull<u8>,
    /// Bytes in use, from the start; a multiple of [`ALIGN`].
    used: Cell<usize>,
    /// Freed blocks by their size.
    free_list: RefCell<BTreeMap<usize, Vec<*mut u8>>>,
}

impl BaseRegion {
    pub(super) fn new() -> Self {
        let layout = layout();
        // SAFETY: the layout has a size.
        let start = unsafe { alloc(layout) };
        let start = NonNull::new(start).unwrap_or_else(|| handle_alloc_error(layout));
        Self { start, used: Cell::new(0), free_list: RefCell::default() }
    }

    /// Returns true if a block lies in the region.
    #[inline]
    pub(super) fn contains(&self, ptr: *mut u8) -> bool {
        ptr.addr().wrapping_sub(self.start.as_ptr().addr()) < REGION_SIZE
    }

    /// Allocates a block of `size` bytes, a multiple of [`ALIGN`]; null if the region is full.
    #[inline]
    pub(super) fn allocate(&self, size: usize) -> *mut u8 {
        if let Some(block) = self.free_list.borrow_mut().get_mut(&size).and_then(Vec::pop) {
            return block;
        }
        let end = self.used.get() + HEADER_SIZE + size;
        // Not `>`: a block of no bytes at the very end would lie outside, and count as a transient one.
        if end >= REGION_SIZE {
            return null_mut();
        }
        // SAFETY: the block with its header lies inside the region, as was just checked, behind all others.
        unsafe {
            let block = self.start.as_ptr().add(self.used.get());
            block.cast::<usize>().write(size);
            self.used.set(end);
            block.add(HEADER_SIZE)
        }
    }

    /// Keeps a block for the next request of its size.
    ///
    /// # Safety
    /// `ptr` came from [`BaseRegion::allocate`] and was not freed.
    #[inline]
    pub(super) unsafe fn free(&self, ptr: *mut u8) {
        // SAFETY: the caller's promise.
        let size = unsafe { block_size(ptr) };
        self.free_list.borrow_mut().entry(size).or_default().push(ptr);
    }

    /// Gives back the bytes beyond `length`, which are overwritten, with the blocks in them and all that were freed.
    pub(super) fn truncate(&self, length: usize) {
        self.free_list.take();
        let used = self.used.get();
        if length < used {
            self.used.set(length);
            // SAFETY: as many bytes of the region were in use, and nobody uses them any more.
            unsafe { self.start.as_ptr().add(length).write_bytes(0, used - length) };
        }
    }

    /// Copies the bytes in use and drops the free list: nothing is allocated here until the heap is extended.
    pub(super) fn freeze(&self) -> Box<[MaybeUninit<u8>]> {
        self.free_list.take();
        let mut bytes = Box::new_uninit_slice(self.used.get());
        // SAFETY: that many bytes of the region are in use, and the copy lies elsewhere. They may be uninitialised, as in
        // the copy.
        unsafe { copy_nonoverlapping(self.start.as_ptr().cast(), bytes.as_mut_ptr(), bytes.len()) };
        bytes
    }

    /// Returns the address range of the bytes in use.
    pub(super) fn used_range(&self) -> Range<*mut u8> {
        let start = self.start.as_ptr();
        // SAFETY: as many bytes of the region are in use.
        start..unsafe { start.add(self.used.get()) }
    }

    /// Writes some bytes of the frozen region back. Bytes beyond the copy, at the end of its last page, were never used.
    pub(super) fn restore(&self, frozen: &[MaybeUninit<u8>], bytes: Range<usize>) {
        let Some(source) = frozen.get(bytes.start..bytes.end.min(frozen.len())) else { return };
        debug_assert!(bytes.start + source.len() <= self.used.get());
        // SAFETY: `frozen` is the copy of this region from its start, so the target lies inside the region.
        unsafe {
            let target = self.start.as_ptr().add(bytes.start);
            copy_nonoverlapping(source.as_ptr(), target.cast(), source.len());
        }
    }
}

impl Drop for BaseRegion {
    fn drop(&mut self) {
        // SAFETY: the region was allocated with this layout. The runtime whose blocks lie here holds the heap, so it is gone.
        unsafe { dealloc(self.start.as_ptr(), layout()) };
    }
}

#[expect(clippy::expect_used, reason = "a page is a power of two, and the size is far below the maximum")]
fn layout() -> Layout {
    Layout::from_size_align(REGION_SIZE, page_size()).expect("the region has a layout")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_block_is_used_again_for_its_size_only() {
        let region = BaseRegion::new();
        let [first, second] = [64, 64].map(|size| region.allocate(size));
        // SAFETY: given by this region, and freed once.
        unsafe { region.free(first) };
        assert_ne!(region.allocate(32), first);
        assert_eq!(region.allocate(64), first);
        assert!(first != second && region.contains(first) && region.contains(second));
        // SAFETY: given by this region.
        assert_eq!(unsafe { block_size(first) }, 64);
    }

    #[test]
    fn a_full_region_gives_nothing_more() {
        let region = BaseRegion::new();
        assert!(region.allocate(REGION_SIZE).is_null());
        assert!(region.allocate(REGION_SIZE - HEADER_SIZE).is_null(), "its end is outside");
        let block = region.allocate(REGION_SIZE - 2 * HEADER_SIZE);
        assert!(region.contains(block));
        assert!(region.allocate(0).is_null(), "a block of no bytes at the end would lie outside");
        // SAFETY: given by this region, and freed once.
        unsafe { region.free(block) };
        assert_eq!(region.allocate(REGION_SIZE - 2 * HEADER_SIZE), block);
    }

    #[test]
    fn just_the_given_bytes_are_restored() {
        let region = BaseRegion::new();
        let block = region.allocate(256);
        // SAFETY: 256 bytes were given.
        unsafe { block.write_bytes(1, 256) };
        let frozen = region.freeze();
        assert_eq!(frozen.len(), HEADER_SIZE + 256);
        // SAFETY: as above.
        unsafe { block.write_bytes(2, 256) };
        region.restore(&frozen, HEADER_SIZE + 16..HEADER_SIZE + 32);
        // SAFETY: written above.
        let byte = |at| unsafe { block.add(at).read() };
        assert_eq!([15, 16, 31, 32].map(byte), [2, 1, 1, 2]);
        region.restore(&frozen, HEADER_SIZE + 240..1 << 20);
        assert_eq!([239, 240, 255].map(byte), [2, 1, 1], "what lies beyond the copy is left out");
        region.restore(&frozen, 1 << 16..1 << 20);
    }
}
