//! The memory that a runtime may use.

#![expect(unsafe_code, reason = "an allocator hands out raw memory")]

use std::{
    cell::Cell,
    ptr::{NonNull, null_mut},
    rc::Rc,
};

use rquickjs::{
    allocator::{Allocator, RustAllocator},
    qjs,
};

/// Counts the bytes of a runtime's blocks, and refuses blocks beyond a limit. Headers of blocks are not counted.
#[derive(Debug, Default)]
pub struct MemoryMeter {
    used: Cell<usize>,
    limit: Cell<usize>,
    was_refused: Cell<bool>,
    /// The runtime whose blocks are counted, once it has a context. Used while it asks for memory only: it is alive then.
    runtime: Cell<Option<NonNull<qjs::JSRuntime>>>,
}

impl MemoryMeter {
    pub(crate) fn with_limit(limit: usize) -> Rc<Self> {
        Rc::new(Self { limit: Cell::new(limit), ..Self::default() })
    }

    /// Names the runtime whose allocator has this meter.
    pub(crate) fn attach(&self, runtime: *mut qjs::JSRuntime) {
        self.runtime.set(NonNull::new(runtime));
    }

    /// Builds a part of the runtime without a limit, and returns an error if it does not fit into the limit afterwards.
    ///
    /// QuickJS-ng 0.16.2 does not survive a refusal while it makes a runtime or a context.
    pub(crate) fn without_limit<T>(
        &self,
        build: impl FnOnce() -> rquickjs::Result<T>,
    ) -> rquickjs::Result<T> {
        let limit = self.limit.replace(usize::MAX);
        let built = build();
        if self.set_limit(limit) { built } else { Err(rquickjs::Error::Allocation) }
    }

    /// Sets another limit, in bytes. Returns false if more than that is in use already.
    pub fn set_limit(&self, limit: usize) -> bool {
        self.limit.set(limit);
        self.used.get() <= limit
    }

    /// Returns the bytes in use.
    #[inline]
    #[must_use]
    pub fn used(&self) -> usize {
        self.used.get()
    }

    /// Returns true if a block was refused since the runtime was made or reset. Code that catches the exception does not
    /// clear it.
    #[inline]
    #[must_use]
    pub fn was_refused(&self) -> bool {
        self.was_refused.get()
    }

    /// Sets the bytes in use, with nothing refused.
    pub(crate) fn reset(&self, used: usize) {
        self.used.set(used);
        self.was_refused.set(false);
    }

    /// Records a refusal, and turns garbage collection off.
    ///
    /// QuickJS-ng 0.16.2 makes an exception of the refusal while the object that was to grow is in no list of objects; a
    /// collection at that moment crashes it. The code is stopped anyway.
    fn record_refusal(&self) {
        self.was_refused.set(true);
        if let Some(runtime) = self.runtime.get() {
            // SAFETY: only the allocator of the attached runtime calls this, on the runtime's demand, so the runtime is alive. The
            // function sets a number of it, and calls back nothing.
            unsafe { qjs::JS_SetGCThreshold(runtime.as_ptr(), qjs::size_t::MAX) };
        }
    }

    /// Returns true if `more` bytes fit below the limit; otherwise records the refusal.
    #[inline]
    pub(crate) fn try_admit(&self, more: usize) -> bool {
        let fits = self.used.get().checked_add(more).is_some_and(|sum| sum <= self.limit.get());
        if !fits {
            self.record_refusal();
        }
        fits
    }

    /// Counts a block of `size` bytes; `None` records that there was no memory for one.
    #[inline]
    pub(crate) fn record_alloc(&self, size: Option<usize>) {
        match size {
            Some(size) => self.used.set(self.used.get().saturating_add(size)),
            None => self.record_refusal(),
        }
    }

    /// Counts that a block of `size` bytes was freed.
    #[inline]
    pub(crate) fn record_free(&self, size: usize) {
        self.used.set(self.used.get().saturating_sub(size));
    }

    #[inline]
    fn record_block(&self, ptr: *mut u8) -> *mut u8 {
        // SAFETY: a pointer that is not null was just given by `RustAllocator`.
        self.record_alloc((!ptr.is_null()).then(|| unsafe { RustAllocator::usable_size(ptr) }));
        ptr
    }
}

/// Rust's allocator behind a [`MemoryMeter`].
pub(crate) struct MeteredAllocator(pub(crate) Rc<MemoryMeter>);

// SAFETY: every pointer comes from and goes back to `RustAllocator`, whose promises are kept; a request above the limit
// gets null, as the trait allows.
unsafe impl Allocator for MeteredAllocator {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if !self.0.try_admit(size) {
            return null_mut();
        }
        self.0.record_block(RustAllocator.alloc(size))
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        match count.checked_mul(size) {
            Some(total) if self.0.try_admit(total) => self.0.record_block(RustAllocator.calloc(count, size)),
            _ => {
                self.0.record_refusal();
                null_mut()
            }
        }
    }

    unsafe fn dealloc(&mut self, ptr: *mut u8) {
        if ptr.is_null() {
            return;
        }
        // SAFETY: the caller hands back what this allocator gave.
        unsafe {
            let size = RustAllocator::usable_size(ptr);
            self.0.record_free(size);
            RustAllocator.dealloc(ptr);
        }
    }

    unsafe fn realloc(&mut self, ptr: *mut u8, new_size: usize) -> *mut u8 {
        if ptr.is_null() {
            return self.alloc(new_size);
        }
        // SAFETY: the caller hands in what this allocator gave.
        let old = unsafe { RustAllocator::usable_size(ptr) };
        if new_size > old && !self.0.try_admit(new_size - old) {
            return null_mut();
        }
        // SAFETY: as above.
        let moved = unsafe { RustAllocator.realloc(ptr, new_size) };
        if moved.is_null() {
            self.0.record_refusal();
            return moved;
        }
        self.0.record_free(old);
        self.0.record_block(moved)
    }

    unsafe fn usable_size(ptr: *mut u8) -> usize {
        // SAFETY: the caller hands in what this allocator gave.
        unsafe { RustAllocator::usable_size(ptr) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_counted_up_to_the_limit() {
        let meter = MemoryMeter::with_limit(1000);
        let mut allocator = MeteredAllocator(Rc::clone(&meter));
        let block = allocator.alloc(600);
        assert_eq!((meter.used(), meter.was_refused()), (600, false));
        // SAFETY: each block was given by this allocator, and is freed once.
        unsafe {
            let block = allocator.realloc(block, 800);
            assert_eq!(meter.used(), 800);
            assert!(allocator.realloc(block, 1001).is_null());
            assert_eq!((meter.used(), meter.was_refused()), (800, true), "the block stays");
            let zeros = allocator.calloc(10, 10);
            assert_eq!((meter.used() - 800, zeros.add(99).read()), (104, 0));
            allocator.dealloc(zeros);
            allocator.dealloc(block);
        }
        assert_eq!(meter.used(), 0);
        assert!(allocator.calloc(usize::MAX, 2).is_null());
        meter.reset(0);
        assert!(!meter.was_refused() && meter.set_limit(0));
        assert!(allocator.alloc(1).is_null());
    }
}
