//! Memory that can be put back to how it was.
//!
//! A JavaScript runtime is built once in a region of memory, and the region is copied. After each invocation the copy
//! is put back and everything that was allocated since is freed: what stands then is, byte for byte, the runtime as
//! it was built. That is a fresh runtime for the price of copying some hundred kilobytes.
//!
//! It holds because the region is the only thing that a runtime changes: QuickJS keeps no state outside of what it
//! allocates here, and nothing of Rust that hangs on the runtime (its loader, its handlers, the functions lent to the
//! prelude) is made or freed after [`Arena::seal`]. Addresses repeat from one invocation to the next; a process serves
//! one workspace alone.
//!
//! Whatever is freed after the seal is overwritten first: what one invocation left is not in memory that the next one gets.
//!
//! Of the hundred pages of the region simple code writes to forty: where it can be told which, only those are put back.
#![expect(unsafe_code, reason = "each block says why it holds")]

mod dirty_pages;

use std::{
    alloc::{Layout, alloc, dealloc, handle_alloc_error, realloc},
    cell::{Cell, OnceCell, RefCell},
    collections::BTreeMap,
    mem::MaybeUninit,
    ops::Range,
    ptr::{NonNull, copy_nonoverlapping, null_mut},
    rc::Rc,
};

use rquickjs::allocator::Allocator;

use rustix::param::page_size;

use self::dirty_pages::DirtyPageTracker;
use super::ffi::MemoryMeter;

/// Bytes of the region: more than a runtime and the prelude need. Pages that are not touched cost nothing.
const REGION_SIZE: usize = 8 << 20;
/// After how many restorings it is looked anew which pages are written to: one invocation that writes to all of them
/// makes those after it no dearer for ever.
const RETRACK_INTERVAL: u32 = 256;
/// The largest block that is copied to grow. A larger one is left to the system's allocator, which moves it without copying
/// where it can, and does not overwrite the place that it leaves.
const MAX_COPIED_BLOCK: usize = 1 << 20;
/// The alignment of every block.
const ALIGN: usize = 16;
/// Bytes before a block of the region; the first word of them is the block's size.
const BASE_HEADER_SIZE: usize = ALIGN;

/// Before each block that was allocated after the seal.
#[repr(C, align(16))]
struct TransientHeader {
    previous: *mut TransientHeader,
    next: *mut TransientHeader,
    /// Stands where a block of the region has its size too.
    size: usize,
    _pad: usize,
}

const TRANSIENT_HEADER_SIZE: usize = size_of::<TransientHeader>();

/// A region with what was allocated beside it since.
pub(super) struct SnapshotHeap {
    region: NonNull<u8>,
    /// Bytes of the region in use.
    top: Cell<usize>,
    /// Blocks of the region that were freed before the seal, by size.
    free_list: RefCell<BTreeMap<usize, Vec<*mut u8>>>,
    /// The region as it was sealed.
    snapshot: OnceCell<Snapshot>,
    /// How often it was put back to that.
    reset_count: Cell<u32>,
    transient_blocks: Cell<*mut TransientHeader>,
    meter: Rc<MemoryMeter>,
}

struct Snapshot {
    bytes: Box<[MaybeUninit<u8>]>,
    used: usize,
    /// Which pages are written to; all may be, where that cannot be told.
    dirty_pages: Option<DirtyPageTracker>,
}

impl SnapshotHeap {
    pub(super) fn new(meter: Rc<MemoryMeter>) -> Rc<Self> {
        let layout = region_layout();
        // SAFETY: the layout has a size.
        let region = unsafe { alloc(layout) };
        Rc::new(Self {
            region: NonNull::new(region).unwrap_or_else(|| handle_alloc_error(layout)),
            top: Cell::new(0),
            free_list: RefCell::default(),
            snapshot: OnceCell::new(),
            reset_count: Cell::new(0),
            transient_blocks: Cell::new(null_mut()),
            meter,
        })
    }

    /// Keeps the region as it is now; what is allocated from here on lives until [`Arena::restore`].
    ///
    /// No code may be running in the runtime, and every value of it that Rust holds now must be held for ever.
    pub(super) fn freeze(&self) {
        let mut bytes = Box::new_uninit_slice(self.top.get());
        // SAFETY: the region reaches beyond `top`, and its copy lies elsewhere.
        unsafe { copy_nonoverlapping(self.region.as_ptr().cast(), bytes.as_mut_ptr(), bytes.len()) };
        self.free_list.take();
        let region = self.region.as_ptr();
        // SAFETY: the region begins on a page and ends behind the last page of what is in use. It is the runtime's, which
        // has one thread and hands nothing of it to the system to be written into; its watch is dropped before it is.
        let watch = unsafe { DirtyPageTracker::start(region..region.add(bytes.len())) };
        self.snapshot.get_or_init(|| Snapshot { bytes, used: self.meter.used(), dirty_pages: watch });
    }

    /// Puts everything back to the moment of the seal.
    ///
    /// No code may be running in the runtime, and Rust must hold just those of its values that it held at the seal.
    pub(super) fn reset(&self) {
        let Some(image) = self.snapshot.get() else { return };
        let mut block = self.transient_blocks.replace(null_mut());
        while !block.is_null() {
            // SAFETY: the list holds the blocks that were allocated and not freed; each is freed once, after its
            // successor was read. Whatever pointed to them is overwritten below.
            unsafe {
                let TransientHeader { next, size, .. } = block.read();
                zero_range(block, 0..size);
                dealloc(block.cast(), transient_layout(size));
                block = next;
            }
        }
        match &image.dirty_pages {
            None => self.restore_range(&image.bytes, 0..image.bytes.len()),
            Some(watch) => {
                watch.dirty_ranges().for_each(|written| self.restore_range(&image.bytes, written));
                self.reset_count.update(|restored| restored.wrapping_add(1));
                if self.reset_count.get().is_multiple_of(RETRACK_INTERVAL) {
                    watch.clear();
                }
            }
        }
        self.meter.reset(image.used);
    }

    /// Puts some bytes of the region back; what lies beyond the image was never used.
    fn restore_range(&self, image: &[MaybeUninit<u8>], bytes: Range<usize>) {
        let Some(image) = image.get(bytes.start..bytes.end.min(image.len())) else { return };
        // SAFETY: the image was taken of this region, which has not become smaller, from its beginning.
        unsafe {
            let target = self.region.as_ptr().add(bytes.start);
            copy_nonoverlapping(image.as_ptr(), target.cast(), image.len());
        }
    }

    #[cfg(test)]
    pub(super) fn used(&self) -> usize {
        self.meter.used()
    }

    #[cfg(test)]
    pub(super) fn has_transient(&self) -> bool {
        !self.transient_blocks.get().is_null()
    }

    fn is_base(&self, ptr: *mut u8) -> bool {
        (ptr as usize).wrapping_sub(self.region.as_ptr() as usize) < REGION_SIZE
    }

    fn is_frozen(&self) -> bool {
        self.snapshot.get().is_some()
    }

    fn allocate(&self, size: usize) -> *mut u8 {
        let Some(size) = rounded_size(size) else { return null_mut() };
        if self.is_frozen() { self.allocate_transient(size) } else { self.allocate_base(size) }
    }

    fn allocate_base(&self, size: usize) -> *mut u8 {
        if let Some(block) = self.free_list.borrow_mut().get_mut(&size).and_then(Vec::pop) {
            return block;
        }
        let end = self.top.get() + BASE_HEADER_SIZE + size;
        if end > REGION_SIZE {
            return null_mut();
        }
        // SAFETY: the block with its header lies inside the region, as was just looked at, and nothing else does yet.
        unsafe {
            let block = self.region.as_ptr().add(self.top.get());
            block.cast::<usize>().write(size);
            self.top.set(end);
            block.add(BASE_HEADER_SIZE)
        }
    }

    fn allocate_transient(&self, size: usize) -> *mut u8 {
        let next = self.transient_blocks.get();
        // SAFETY: the layout has a size; the block is written to only where it was given, and the head of the list is
        // null or a block that was not freed.
        unsafe {
            let block = alloc(transient_layout(size)).cast::<TransientHeader>();
            if block.is_null() {
                return null_mut();
            }
            block.write(TransientHeader { previous: null_mut(), next, size, _pad: 0 });
            if !next.is_null() {
                (*next).previous = block;
            }
            self.transient_blocks.set(block);
            block.cast::<u8>().add(TRANSIENT_HEADER_SIZE)
        }
    }

    /// # Safety
    /// `ptr` came from [`Arena::allocate_young`], has `old_size` bytes and was not freed.
    unsafe fn resize_transient(&self, ptr: *mut u8, old_size: usize, new_size: usize) -> *mut u8 {
        let Some(new_size) = rounded_size(new_size) else { return null_mut() };
        if new_size > old_size && !self.meter.try_admit(new_size - old_size) {
            return null_mut();
        }
        if new_size > old_size && old_size <= MAX_COPIED_BLOCK {
            let moved = self.allocate_transient(new_size);
            if moved.is_null() {
                self.meter.record_alloc(None);
                return null_mut();
            }
            // SAFETY: as the caller promises; the new block is another one, and longer.
            unsafe {
                copy_nonoverlapping(ptr, moved, old_size);
                self.free(ptr);
            }
            self.meter.record_free(old_size);
            self.meter.record_alloc(Some(new_size));
            return moved;
        }
        // SAFETY: as the caller promises; the header moves with the block, and whoever pointed to the block in the list
        // is told where it is now. Of a block that becomes shorter, the end is freed.
        unsafe {
            let block = ptr.sub(TRANSIENT_HEADER_SIZE);
            zero_range(block.cast(), new_size.min(old_size)..old_size);
            let block = realloc(block, transient_layout(old_size), TRANSIENT_HEADER_SIZE + new_size)
                .cast::<TransientHeader>();
            if block.is_null() {
                self.meter.record_alloc(None);
                return null_mut();
            }
            (*block).size = new_size;
            let TransientHeader { previous, next, .. } = block.read();
            if previous.is_null() {
                self.transient_blocks.set(block);
            } else {
                (*previous).next = block;
            }
            if !next.is_null() {
                (*next).previous = block;
            }
            self.meter.record_free(old_size);
            self.meter.record_alloc(Some(new_size));
            block.cast::<u8>().add(TRANSIENT_HEADER_SIZE)
        }
    }

    /// # Safety
    /// `ptr` came from [`Arena::allocate`] and was not freed.
    unsafe fn free(&self, ptr: *mut u8) {
        // SAFETY: as the caller promises; a block outside the region has a whole header, and its neighbours in the list
        // were not freed either.
        unsafe {
            if self.is_base(ptr) {
                // After the seal it stays: restoring brings it back.
                if !self.is_frozen() {
                    self.free_list.borrow_mut().entry(self.size(ptr)).or_default().push(ptr);
                }
                return;
            }
            let block = ptr.sub(TRANSIENT_HEADER_SIZE).cast::<TransientHeader>();
            let TransientHeader { previous, next, size, .. } = block.read();
            if previous.is_null() {
                self.transient_blocks.set(next);
            } else {
                (*previous).next = next;
            }
            if !next.is_null() {
                (*next).previous = previous;
            }
            zero_range(block, 0..size);
            dealloc(block.cast(), transient_layout(size));
        }
    }

    /// # Safety
    /// As for [`Arena::free`].
    unsafe fn size(&self, ptr: *mut u8) -> usize {
        // SAFETY: both kinds of header have the size two words before the block.
        unsafe { size_before(ptr) }
    }
}

/// Overwrites some bytes of a block that are about to be freed.
///
/// # Safety
/// The block has so many bytes behind its header, and nobody reads these any more.
unsafe fn zero_range(block: *mut TransientHeader, bytes: Range<usize>) {
    // SAFETY: as the caller promises.
    let begin = unsafe { block.cast::<u8>().add(TRANSIENT_HEADER_SIZE + bytes.start) };
    // SAFETY: as above.
    unsafe { begin.write_bytes(0, bytes.len()) };
    // The compiler may not leave out what somebody could look at.
    std::hint::black_box(begin);
    #[cfg(test)]
    ZEROED_BYTES.set(ZEROED_BYTES.get() + bytes.len());
}

#[cfg(test)]
thread_local! {
    /// Bytes that were overwritten.
    static ZEROED_BYTES: Cell<usize> = const { Cell::new(0) };
}

/// The size of the block for a request.
fn rounded_size(size: usize) -> Option<usize> {
    size.checked_next_multiple_of(ALIGN).filter(|size| *size <= isize::MAX as usize / 2)
}

/// # Safety
/// `ptr` came from [`Arena::allocate`] and was not freed.
unsafe fn size_before(ptr: *mut u8) -> usize {
    // SAFETY: both kinds of header have the size two words before the block, aligned.
    unsafe { ptr.sub(2 * size_of::<usize>()).cast::<usize>().read() }
}

#[expect(clippy::expect_used, reason = "a constant that fits")]
fn region_layout() -> Layout {
    Layout::from_size_align(REGION_SIZE, page_size()).expect("the region has a layout")
}

fn transient_layout(size: usize) -> Layout {
    // SAFETY: the alignment is a power of two, and `rounded` keeps the size far below `isize::MAX`.
    unsafe { Layout::from_size_align_unchecked(TRANSIENT_HEADER_SIZE + size, ALIGN) }
}

impl Drop for SnapshotHeap {
    fn drop(&mut self) {
        let mut block = self.transient_blocks.get();
        while !block.is_null() {
            // SAFETY: as in `restore`.
            unsafe {
                let next = (*block).next;
                dealloc(block.cast(), transient_layout((*block).size));
                block = next;
            }
        }
        drop(self.snapshot.take());
        // SAFETY: the region was allocated with this layout; the runtime, which has the only handle to the arena
        // beside its realm, is gone.
        unsafe { dealloc(self.region.as_ptr(), region_layout()) };
    }
}

/// A runtime's handle to its arena.
pub(super) struct SnapshotAllocator(pub(super) Rc<SnapshotHeap>);

// SAFETY: blocks come from the arena, are aligned to 16 bytes, keep their size before them and stay where they are
// until they are freed or the arena is restored, which nothing of the runtime survives that could point to them. A
// request above the limit gets null, as the trait allows.
unsafe impl Allocator for SnapshotAllocator {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        let arena = &self.0;
        if !arena.meter.try_admit(size) {
            return null_mut();
        }
        let ptr = arena.allocate(size);
        // SAFETY: a pointer that is not null was just given by the arena.
        arena.meter.record_alloc(if ptr.is_null() { None } else { Some(unsafe { arena.size(ptr) }) });
        ptr
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(total) = count.checked_mul(size) else {
            self.0.meter.record_alloc(None);
            return null_mut();
        };
        let ptr = self.alloc(total);
        if !ptr.is_null() {
            // SAFETY: the block holds at least `total` bytes.
            unsafe { ptr.write_bytes(0, total) };
        }
        ptr
    }

    unsafe fn dealloc(&mut self, ptr: *mut u8) {
        if ptr.is_null() {
            return;
        }
        // SAFETY: the caller hands back what this allocator gave.
        unsafe {
            self.0.meter.record_free(self.0.size(ptr));
            self.0.free(ptr);
        }
    }

    unsafe fn realloc(&mut self, ptr: *mut u8, new_size: usize) -> *mut u8 {
        if ptr.is_null() {
            return self.alloc(new_size);
        }
        // SAFETY: the caller hands in what this allocator gave; the new block is longer than what is copied, and the
        // old one is freed only once it was.
        unsafe {
            let old_size = self.0.size(ptr);
            if !self.0.is_base(ptr) {
                return self.0.resize_transient(ptr, old_size, new_size);
            }
            if new_size <= old_size {
                return ptr;
            }
            let moved = self.alloc(new_size);
            if !moved.is_null() {
                copy_nonoverlapping(ptr, moved, old_size);
                self.dealloc(ptr);
            }
            moved
        }
    }

    unsafe fn usable_size(ptr: *mut u8) -> usize {
        // SAFETY: the caller hands in what this allocator gave.
        unsafe { size_before(ptr) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_freed_after_the_seal_is_overwritten() {
        let arena = SnapshotHeap::new(MemoryMeter::with_limit(64 << 20));
        let mut allocator = SnapshotAllocator(Rc::clone(&arena));
        let kept = allocator.alloc(64);
        arena.freeze();
        let wiped = || ZEROED_BYTES.replace(0);
        let (a, b, c) = (allocator.alloc(100), allocator.alloc(2 * MAX_COPIED_BLOCK), allocator.alloc(48));
        // SAFETY: each was given by this allocator, has at least as many bytes, and is not used after it was handed back.
        unsafe {
            for (block, size) in [(a, 100), (b, 2 * MAX_COPIED_BLOCK), (c, 48)] {
                block.write_bytes(7, size);
            }
            assert_eq!(wiped(), 0);
            // It grows: its earlier place is overwritten, and what it held is there.
            let a = allocator.realloc(a, 1000);
            assert_eq!((wiped(), a.add(99).read()), (112, 7));
            // It becomes shorter.
            let a = allocator.realloc(a, 16);
            assert_eq!((wiped(), a.add(15).read()), (1008 - 16, 7));
            // A large one is the system's to move.
            let b = allocator.realloc(b, 3 * MAX_COPIED_BLOCK);
            assert_eq!((wiped(), b.add(2 * MAX_COPIED_BLOCK - 1).read()), (0, 7));
            allocator.dealloc(c);
            assert_eq!(wiped(), 48);
            // Of the region, which is put back.
            allocator.dealloc(kept);
            assert_eq!(wiped(), 0);
        }
        arena.reset();
        assert_eq!(wiped(), 16 + 3 * MAX_COPIED_BLOCK);
        assert!(!arena.has_transient());
    }
}
