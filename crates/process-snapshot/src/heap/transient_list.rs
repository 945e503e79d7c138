//! Blocks that were allocated after the freeze, in a list, so that a reset can free all of them.

use std::{
    alloc::{Layout, alloc, dealloc, realloc},
    cell::Cell,
    ops::Range,
    ptr::null_mut,
};

use super::ALIGN;

/// Stands before each block.
#[repr(C, align(16))]
struct Header {
    previous: *mut Header,
    next: *mut Header,
    /// Bytes of the block. Two words before it, where a base block has its size too.
    size: usize,
    _pad: usize,
}

const HEADER_SIZE: usize = size_of::<Header>();
const _: () = assert!(HEADER_SIZE - std::mem::offset_of!(Header, size) == 2 * size_of::<usize>());

/// A doubly linked list of blocks from the system's allocator.
pub(super) struct TransientList {
    first: Cell<*mut Header>,
}

impl Default for TransientList {
    fn default() -> Self {
        Self { first: Cell::new(null_mut()) }
    }
}

impl TransientList {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first.get().is_null()
    }

    /// Allocates a block of `size` bytes, as `rounded_size` gives it; null if there is no memory.
    #[inline]
    pub(super) fn allocate(&self, size: usize) -> *mut u8 {
        let next = self.first.get();
        // SAFETY: the layout has a size. The block is written to only where it was given, and the head of the list is null
        // or a block that was not freed.
        unsafe {
            let block = alloc(layout(size)).cast::<Header>();
            if block.is_null() {
                return null_mut();
            }
            block.write(Header { previous: null_mut(), next, size, _pad: 0 });
            if !next.is_null() {
                (*next).previous = block;
            }
            self.first.set(block);
            block.cast::<u8>().add(HEADER_SIZE)
        }
    }

    /// Resizes a block by the system's `realloc`; null if there is no memory, and the block is as long as it was then. The
    /// end of a block that becomes shorter is overwritten.
    ///
    /// # Safety
    /// `ptr` came from this list, has `old_size` bytes and was not freed. `new_size` is as `rounded_size` gives it.
    #[inline]
    pub(super) unsafe fn resize(&self, ptr: *mut u8, old_size: usize, new_size: usize) -> *mut u8 {
        // SAFETY: the caller's promise; the header moves with the block, and its neighbours in the list learn the new
        // address.
        unsafe {
            let block = ptr.sub(HEADER_SIZE);
            zero_range(block.cast(), new_size.min(old_size)..old_size);
            let block = realloc(block, layout(old_size), HEADER_SIZE + new_size).cast::<Header>();
            if block.is_null() {
                return null_mut();
            }
            (*block).size = new_size;
            let Header { previous, next, .. } = block.read();
            if previous.is_null() {
                self.first.set(block);
            } else {
                (*previous).next = block;
            }
            if !next.is_null() {
                (*next).previous = block;
            }
            block.cast::<u8>().add(HEADER_SIZE)
        }
    }

    /// Overwrites a block and frees it.
    ///
    /// # Safety
    /// `ptr` came from this list and was not freed.
    #[inline]
    pub(super) unsafe fn free(&self, ptr: *mut u8) {
        // SAFETY: the caller's promise; the neighbours in the list were not freed either.
        unsafe {
            let block = ptr.sub(HEADER_SIZE).cast::<Header>();
            let Header { previous, next, size, .. } = block.read();
            if previous.is_null() {
                self.first.set(next);
            } else {
                (*previous).next = next;
            }
            if !next.is_null() {
                (*next).previous = previous;
            }
            zero_range(block, 0..size);
            dealloc(block.cast(), layout(size));
        }
    }

    /// Overwrites all blocks and frees them.
    ///
    /// # Safety
    /// Nobody uses a block of the list any more.
    pub(super) unsafe fn free_all(&self) {
        let mut block = self.first.replace(null_mut());
        while !block.is_null() {
            // SAFETY: the list holds the blocks that were allocated and not freed; each is freed once, after its successor was
            // read.
            unsafe {
                let Header { next, size, .. } = block.read();
                zero_range(block, 0..size);
                dealloc(block.cast(), layout(size));
                block = next;
            }
        }
    }
}

impl Drop for TransientList {
    fn drop(&mut self) {
        let mut block = self.first.get();
        while !block.is_null() {
            // SAFETY: as in `free_all`; the runtime whose blocks these are holds the heap, so it is gone.
            unsafe {
                let Header { next, size, .. } = block.read();
                dealloc(block.cast(), layout(size));
                block = next;
            }
        }
    }
}

/// Overwrites some bytes of a block that are about to be freed.
///
/// # Safety
/// The block has so many bytes behind its header, and nobody reads these any more.
#[inline]
unsafe fn zero_range(block: *mut Header, bytes: Range<usize>) {
    // SAFETY: the caller's promise.
    let begin = unsafe { block.cast::<u8>().add(HEADER_SIZE + bytes.start) };
    // SAFETY: as above.
    unsafe { begin.write_bytes(0, bytes.len()) };
    // Without this the compiler may drop writes to memory that is freed next.
    std::hint::black_box(begin);
    #[cfg(test)]
    ZEROED_BYTES.set(ZEROED_BYTES.get() + bytes.len());
}

#[cfg(test)]
thread_local! {
    /// Bytes that this thread has overwritten.
    pub(super) static ZEROED_BYTES: Cell<usize> = const { Cell::new(0) };
}

#[inline]
fn layout(size: usize) -> Layout {
    // SAFETY: the alignment is a power of two, and `rounded_size` keeps the size far below `isize::MAX`.
    unsafe { Layout::from_size_align_unchecked(HEADER_SIZE + size, ALIGN) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes of the blocks, the newest first, with both directions of the list compared.
    fn sizes(list: &TransientList) -> Vec<usize> {
        let (mut sizes, mut previous, mut block) = (Vec::new(), null_mut(), list.first.get());
        while !block.is_null() {
            // SAFETY: a block of the list.
            let header = unsafe { block.read() };
            assert_eq!(header.previous, previous);
            sizes.push(header.size);
            (previous, block) = (block, header.next);
        }
        sizes
    }

    #[test]
    fn blocks_are_freed_and_resized_anywhere_in_the_list() {
        let list = TransientList::default();
        let [a, b, c, d] = [16, 32, 48, 64].map(|size| list.allocate(size));
        assert_eq!(sizes(&list), [64, 48, 32, 16]);
        // SAFETY: each block is one of the list, with that size, and is not used after it was freed or moved.
        unsafe {
            // In the middle, at the head and at the tail.
            let b = list.resize(b, 32, 4096);
            let d = list.resize(d, 64, 8192);
            let a = list.resize(a, 16, 1024);
            assert_eq!(sizes(&list), [8192, 48, 4096, 1024]);
            list.free(b);
            assert_eq!(sizes(&list), [8192, 48, 1024]);
            list.free(d);
            assert_eq!(sizes(&list), [48, 1024]);
            list.free(a);
            assert_eq!(sizes(&list), [48]);
            list.free(c);
            assert!(list.is_empty());
        }
    }

    #[test]
    fn freeing_all_leaves_an_empty_list() {
        let list = TransientList::default();
        for size in [16, 1 << 20, 0] {
            assert!(!list.allocate(size).is_null());
        }
        // SAFETY: nobody uses the blocks.
        unsafe { list.free_all() };
        assert!(list.is_empty());
        list.allocate(16);
        assert_eq!(sizes(&list), [16]);
    }
}
