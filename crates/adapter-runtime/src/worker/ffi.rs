//! The few places where QuickJS and the system need promises that the compiler cannot check.
#![expect(unsafe_code, reason = "each block says why it holds")]

use std::{cell::Cell, io, ptr::NonNull, rc::Rc};

use rquickjs::{
    Ctx, Module, TypedArray,
    allocator::{Allocator, RustAllocator},
    module::Declared,
    qjs,
};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Closes every descriptor except stdin, stdout and stderr.
pub(super) fn close_other_descriptors() {
    // SAFETY: called first thing in the worker's `main`, before anything in this process owns a descriptor above 2.
    unsafe {
        libc::close_range(3, libc::c_uint::MAX, 0);
    }
}

/// Moves this process into a new, empty namespace; whether that was permitted.
pub(super) fn unshare_namespace(kind: UnshareFlags) -> bool {
    // SAFETY: descriptors are not unshared, and the process has one thread.
    unsafe { unshare_unsafe(kind) }.is_ok()
}

/// Makes a copy of this process, as a child of this one's parent: the number of the copy, and in the copy nothing.
pub(super) fn fork_sibling() -> io::Result<Option<i32>> {
    // SAFETY: the process has one thread, so the copy has all of it, and no lock of another's. The copy gets no other
    // stack. The C library does not hear of it, and keeps the thread's number of before, which only signals that a
    // thread sends to itself look at: a worker may not send any.
    let copy = unsafe { libc::syscall(libc::SYS_clone, libc::CLONE_PARENT, 0, 0, 0, 0) };
    match i32::try_from(copy) {
        Ok(0) => Ok(None),
        Ok(process) if process > 0 => Ok(Some(process)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Loads bytecode that [`Module::write`] made in this very process.
pub(super) fn load_bytecode<'js>(
    ctx: Ctx<'js>,
    bytecode: &Bytecode,
) -> rquickjs::Result<Module<'js, Declared>> {
    // SAFETY: a `Bytecode` holds only what `Module::write` gave in this process; it never comes from outside.
    unsafe { Module::load(ctx, &bytecode.0) }
}

/// Bytecode of one module; only [`Bytecode::of`] makes it.
pub(super) struct Bytecode(Vec<u8>);

impl Bytecode {
    /// The bytecode of app code, with the places in its source.
    pub(super) fn with_debug_info(module: &Module<'_, Declared>) -> rquickjs::Result<Self> {
        let options = rquickjs::WriteOptions { strip_source: true, ..Default::default() };
        module.write(options).map(Self)
    }

    /// The bytecode of code whose places concern nobody; it loads faster.
    pub(super) fn stripped(module: &Module<'_, Declared>) -> rquickjs::Result<Self> {
        let options = rquickjs::WriteOptions { strip_source: true, strip_debug: true, ..Default::default() };
        module.write(options).map(Self)
    }
}

/// Copies the bytes out of a view; nothing when its buffer is detached.
pub(super) fn copy_bytes(view: &TypedArray<'_, u8>) -> Option<Vec<u8>> {
    // SAFETY: the slice is copied at once; no JavaScript runs while it lives.
    unsafe { view.as_bytes() }.map(<[u8]>::to_vec)
}

/// Hands the bytes of a view from `from` on to `look`, which must not run JavaScript; none when its buffer is detached.
pub(super) fn with_bytes<T>(view: &TypedArray<'_, u8>, from: usize, look: impl FnOnce(&[u8]) -> T) -> T {
    // SAFETY: no JavaScript runs while the slice lives, as the caller promises.
    let bytes = unsafe { view.as_bytes() }.and_then(|bytes| bytes.get(from..));
    look(bytes.unwrap_or_default())
}

/// How much a runtime has allocated, and whether it was ever refused more.
#[derive(Debug, Default)]
pub(super) struct MemoryMeter {
    used: Cell<usize>,
    limit: Cell<usize>,
    was_refused: Cell<bool>,
    /// Whose allocations are counted, once it is known.
    runtime: Cell<Option<NonNull<qjs::JSRuntime>>>,
}

impl MemoryMeter {
    pub(super) fn with_limit(limit: usize) -> Rc<Self> {
        Rc::new(Self { limit: Cell::new(limit), ..Self::default() })
    }

    /// Counts for the runtime of `ctx`, which must live as long as it allocates.
    pub(super) fn attach(&self, ctx: &Ctx<'_>) {
        // SAFETY: the context is alive.
        let runtime = unsafe { qjs::JS_GetRuntime(ctx.as_raw().as_ptr()) };
        self.runtime.set(NonNull::new(runtime));
    }

    /// Remembers that an allocation was refused, and has no garbage collected any more.
    ///
    /// The engine (QuickJS-ng 0.16.2) makes an error out of the refusal while the object that was to grow is in no list of
    /// objects; a collection at that moment crashes it. The code is stopped anyway.
    fn record_refusal(&self) {
        self.was_refused.set(true);
        if let Some(runtime) = self.runtime.get() {
            // SAFETY: the runtime is alive, since it just asked for memory, and this only sets a number of it.
            unsafe { qjs::JS_SetGCThreshold(runtime.as_ptr(), qjs::size_t::MAX) };
        }
    }

    /// Puts the meter to `used`, with nothing refused.
    pub(super) fn reset(&self, used: usize) {
        self.used.set(used);
        self.was_refused.set(false);
    }

    /// Sets another limit; whether what is in use fits it.
    pub(super) fn set_limit(&self, limit: usize) -> bool {
        self.limit.set(limit);
        self.used.get() <= limit
    }

    pub(super) fn used(&self) -> usize {
        self.used.get()
    }

    /// Whether an allocation was refused; code that catches the exception does not unset it.
    pub(super) fn was_refused(&self) -> bool {
        self.was_refused.get()
    }

    /// Whether `more` bytes fit; if not, that is remembered.
    pub(super) fn try_admit(&self, more: usize) -> bool {
        let fits = self.used.get().checked_add(more).is_some_and(|sum| sum <= self.limit.get());
        if !fits {
            self.record_refusal();
        }
        fits
    }

    /// Counts a block of this size, or that there was none to be had.
    pub(super) fn record_alloc(&self, size: Option<usize>) {
        match size {
            Some(size) => self.used.set(self.used.get().saturating_add(size)),
            None => self.record_refusal(),
        }
    }

    /// Counts that a block of this size was freed.
    pub(super) fn record_free(&self, size: usize) {
        self.used.set(self.used.get().saturating_sub(size));
    }

    fn record_block(&self, ptr: *mut u8) -> *mut u8 {
        // SAFETY: a pointer that is not null was just given by `RustAllocator`.
        self.record_alloc((!ptr.is_null()).then(|| unsafe { RustAllocator::usable_size(ptr) }));
        ptr
    }
}

/// The Rust allocator behind a [`Meter`].
pub(super) struct MeteredAllocator(pub(super) Rc<MemoryMeter>);

// SAFETY: every pointer comes from and goes back to `RustAllocator`, whose promises are kept; a request above the
// limit gets null, as the trait allows.
unsafe impl Allocator for MeteredAllocator {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if !self.0.try_admit(size) {
            return std::ptr::null_mut();
        }
        self.0.record_block(RustAllocator.alloc(size))
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        match count.checked_mul(size) {
            Some(total) if self.0.try_admit(total) => self.0.record_block(RustAllocator.calloc(count, size)),
            _ => {
                self.0.record_refusal();
                std::ptr::null_mut()
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
            return std::ptr::null_mut();
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
