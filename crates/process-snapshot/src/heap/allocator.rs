//! The heap as QuickJS calls it.

use std::{
    ptr::{copy_nonoverlapping, null_mut},
    rc::Rc,
};

use rquickjs::allocator::Allocator;

use super::{SnapshotHeap, block_size};

/// A runtime's handle to its heap. The runtime owns it, so the heap outlives every block of the runtime.
pub(crate) struct SnapshotAllocator(pub(crate) Rc<SnapshotHeap>);

// SAFETY: blocks come from the heap, are aligned to 16 bytes, keep their size before them and stay where they are until they
// are freed or the heap is reset; the contract of `SnapshotRuntime::reset` is that nothing points to them then. A request
// above the limit gets null, as the trait allows.
unsafe impl Allocator for SnapshotAllocator {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        let heap = &self.0;
        if !heap.meter.try_admit(size) {
            return null_mut();
        }
        let ptr = heap.allocate(size);
        // SAFETY: a pointer that is not null was just given by the heap.
        heap.meter.record_alloc(if ptr.is_null() { None } else { Some(unsafe { block_size(ptr) }) });
        ptr
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(total) = count.checked_mul(size) else {
            self.0.meter.record_alloc(None);
            return null_mut();
        };
        let ptr = self.alloc(total);
        if !ptr.is_null() {
            // SAFETY: the block has at least `total` bytes.
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
            self.0.meter.record_free(block_size(ptr));
            self.0.free(ptr);
        }
    }

    unsafe fn realloc(&mut self, ptr: *mut u8, new_size: usize) -> *mut u8 {
        if ptr.is_null() {
            return self.alloc(new_size);
        }
        // SAFETY: the caller hands in what this allocator gave. The new block is longer than what is copied, and the old one
        // is freed after that.
        unsafe {
            let old_size = block_size(ptr);
            if !self.0.base.contains(ptr) {
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
        unsafe { block_size(ptr) }
    }
}
