//! QuickJS runtimes with metered memory, on the system's heap or on one that can be reset.

#![expect(unsafe_code, reason = "a reset frees memory that the compiler believes to be in use")]

use std::rc::Rc;

use rquickjs::{Context, Runtime, context::Intrinsic};

use crate::{
    heap::{SnapshotAllocator, SnapshotHeap},
    memory_meter::{MemoryMeter, MeteredAllocator},
};

/// A runtime that is refused memory beyond a limit.
pub struct MeteredRuntime {
    runtime: Runtime,
    meter: Rc<MemoryMeter>,
}

impl MeteredRuntime {
    /// Makes a runtime on the system's heap, with a limit in bytes.
    ///
    /// # Errors
    /// If the limit is too low for a runtime.
    pub fn new(limit: usize) -> rquickjs::Result<Self> {
        let meter = MemoryMeter::with_limit(limit);
        let allocator = MeteredAllocator(Rc::clone(&meter));
        let runtime = meter.without_limit(|| Runtime::new_with_alloc(allocator))?;
        Ok(Self { runtime, meter })
    }

    /// Returns the runtime itself, for its settings. Make contexts with [`MeteredRuntime::new_context`].
    #[must_use]
    pub fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Returns the meter of the runtime's memory.
    #[must_use]
    pub fn meter(&self) -> &Rc<MemoryMeter> {
        &self.meter
    }

    /// Makes a context with the given intrinsics. From the first one on, a refused block also turns garbage collection
    /// off, which the engine would not survive.
    ///
    /// # Errors
    /// If the memory limit is reached.
    pub fn new_context<I: Intrinsic>(&self) -> rquickjs::Result<Context> {
        let context = self.meter.without_limit(|| Context::custom::<I>(&self.runtime))?;
        // The meter is the one of this runtime's allocator, so the runtime lives whenever the meter uses it.
        self.meter.attach(context.get_runtime_ptr());
        Ok(context)
    }
}

/// A runtime whose memory is reset to the state in which it was frozen. See the crate's invariants.
pub struct SnapshotRuntime {
    metered: MeteredRuntime,
    heap: Rc<SnapshotHeap>,
}

impl SnapshotRuntime {
    /// Makes a runtime on a heap of its own, with a limit in bytes. At most 16 MiB can be allocated until it is frozen,
    /// those of an extension included.
    ///
    /// # Errors
    /// If the limit is too low for a runtime.
    pub fn new(limit: usize) -> rquickjs::Result<Self> {
        let meter = MemoryMeter::with_limit(limit);
        let heap = SnapshotHeap::new(Rc::clone(&meter));
        let allocator = SnapshotAllocator(Rc::clone(&heap));
        let runtime = meter.without_limit(|| Runtime::new_with_alloc(allocator))?;
        Ok(Self { metered: MeteredRuntime { runtime, meter }, heap })
    }

    /// Returns the runtime with its meter.
    #[must_use]
    pub fn metered(&self) -> &MeteredRuntime {
        &self.metered
    }

    /// Collects garbage and takes the snapshot. A second call only collects garbage.
    ///
    /// # Panics
    /// When called inside of [`Context::with`].
    pub fn freeze(&self) {
        self.metered.runtime.run_gc();
        self.heap.freeze();
    }

    /// Puts the runtime back to the state of [`SnapshotRuntime::freeze`]. Does nothing before it.
    ///
    /// No handle to a value of the runtime that was made after the freeze (a clone of a [`Context`], a
    /// [`Persistent`](rquickjs::Persistent)) may be used or dropped later, and none that was made before may have been
    /// dropped: memory is corrupted otherwise.
    ///
    /// # Panics
    /// When called inside of [`Context::with`].
    pub fn reset(&self) {
        // Takes the lock that `Context::with` holds while code may run.
        self.metered.runtime.is_job_pending();
        // SAFETY: no code runs, or the line above had panicked. The caller's promise covers handles in Rust, and the engine has
        // no pointers outside of the heap.
        unsafe { self.heap.reset() };
    }

    /// Puts the runtime back to the state of [`SnapshotRuntime::freeze`], and makes what `build` then adds a part of the state that
    /// resets go back to, until [`SnapshotRuntime::discard_extension`] or the next call of this function. If `build` fails, nothing
    /// is added.
    ///
    /// The obligations are those of [`SnapshotRuntime::reset`]. Handles that `build` returns count as made before the freeze for as
    /// long as the extension exists; they may not be dropped, then or later.
    ///
    /// # Errors
    /// Those of `build`.
    ///
    /// # Panics
    /// When called inside of [`Context::with`].
    pub fn extend<T, E>(&self, build: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.metered.runtime.is_job_pending();
        // SAFETY: as in `reset`.
        unsafe { self.heap.begin_extension() };
        let built = build();
        if built.is_ok() {
            self.heap.end_extension();
        } else {
            self.discard_extension();
        }
        built
    }

    /// Puts the runtime back to the state of [`SnapshotRuntime::freeze`], without an extension. Does nothing before the freeze.
    ///
    /// The obligations are those of [`SnapshotRuntime::reset`].
    ///
    /// # Panics
    /// When called inside of [`Context::with`].
    pub fn discard_extension(&self) {
        self.metered.runtime.is_job_pending();
        // SAFETY: as in `reset`.
        unsafe { self.heap.discard_extension() };
    }

    /// Returns true if a reset copies only the pages that were written to; false where the kernel does not allow it to
    /// be known which ones these are, and before the freeze.
    #[must_use]
    pub fn tracks_dirty_pages(&self) -> bool {
        self.heap.tracks_dirty_pages()
    }

    /// Returns true if memory is in use that was allocated after the freeze.
    #[must_use]
    pub fn has_transient_blocks(&self) -> bool {
        self.heap.has_transient_blocks()
    }
}

#[cfg(test)]
#[cfg(not(miri))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use rquickjs::context::intrinsic;

    use super::*;

    const LIMIT: usize = 32 << 20;

    /// Keeps the context for as long as the runtime, as every handle that was made before the freeze must be.
    struct Frozen {
        context: Context,
        runtime: SnapshotRuntime,
    }

    fn frozen() -> Frozen {
        let runtime = SnapshotRuntime::new(LIMIT).unwrap();
        let context = runtime.metered().new_context::<intrinsic::All>().unwrap();
        context.with(|ctx| {
            ctx.eval::<(), _>("globalThis.items = [1, 2, 3]; globalThis.texts = new Map([['a', 'b']]);")
                .unwrap();
        });
        runtime.freeze();
        Frozen { context, runtime }
    }

    impl Frozen {
        fn eval(&self, code: &str) -> Result<String, rquickjs::Error> {
            self.context.with(|ctx| {
                let result = ctx.eval::<String, _>(code);
                ctx.catch();
                result
            })
        }
    }

    const STATE: &str =
        "JSON.stringify([items, [...texts], typeof kept, {}.polluted, Object.keys(globalThis)])";

    #[test]
    fn a_reset_undoes_whatever_code_did() {
        let frozen = frozen();
        let (used, state) = (frozen.runtime.metered().meter().used(), frozen.eval(STATE).unwrap());
        for code in [
            "items.length = 0; texts.clear(); ''",
            "globalThis.kept = Array.from({ length: 50_000 }, (_, at) => ({ at })); ''",
            "globalThis.kept = new Uint8Array(8 << 20).fill(7); ''",
            "Object.prototype.polluted = 1; Array.prototype.push = null; ''",
            "let text = 'x'; for (;;) text += text;",
            "const all = []; for (;;) all.push(new Uint8Array(1e6));",
            "const cycle = {}; cycle.self = cycle; globalThis.kept = cycle; ''",
            "for (let at = 0; at < 5000; at++) globalThis[Symbol.for(`s${at}`)] = BigInt(at) ** 9n; ''",
        ] {
            let _ = frozen.eval(code);
            frozen.runtime.reset();
            let meter = frozen.runtime.metered().meter();
            assert_eq!((meter.used(), meter.was_refused()), (used, false), "{code}");
            assert!(!frozen.runtime.has_transient_blocks());
            assert_eq!(frozen.eval(STATE).unwrap(), state, "after {code}");
            frozen.runtime.reset();
        }
    }

    #[test]
    fn an_extension_is_there_after_each_reset_until_it_is_discarded() {
        let frozen = frozen();
        let (used, state) = (frozen.runtime.metered().meter().used(), frozen.eval(STATE).unwrap());
        for round in 0..20 {
            let added = frozen.runtime.extend(|| {
                frozen.eval(&format!(
                    "items.push({round}); globalThis.added = Array.from({{ length: 3000 }}, (_, at) => ({{ [`m${{at}}`]: at }})); ''"
                ))
            });
            added.unwrap();
            let (extended_used, extended) =
                (frozen.runtime.metered().meter().used(), frozen.eval(STATE).unwrap());
            assert!(extended_used > used && extended != state);
            frozen.runtime.reset();
            for code in [
                "added.length = 0; items.length = 0; ''",
                "globalThis.kept = 1; for (const a of added) a.x = []; ''",
            ] {
                frozen.eval(code).unwrap();
                frozen.runtime.reset();
                assert_eq!(
                    frozen.eval("String([added.length, added[7].m7, items, typeof kept])").unwrap(),
                    format!("3000,7,1,2,3,{round},undefined")
                );
                frozen.runtime.reset();
                assert_eq!(frozen.runtime.metered().meter().used(), extended_used);
            }
            if round % 3 == 0 {
                frozen.runtime.discard_extension();
                assert_eq!(
                    (frozen.runtime.metered().meter().used(), frozen.eval(STATE).unwrap()),
                    (used, state.clone())
                );
                frozen.runtime.reset();
            }
        }
    }

    #[test]
    fn an_extension_that_fails_adds_nothing() {
        let frozen = frozen();
        let state = frozen.eval(STATE).unwrap();
        let failed = frozen
            .runtime
            .extend(|| frozen.eval("globalThis.kept = 1; items.push(4); throw new Error('no')").map(|_| ()));
        assert!(failed.is_err());
        assert_eq!(frozen.eval(STATE).unwrap(), state);
        let too_large =
            frozen.runtime.extend(|| frozen.eval("globalThis.kept = new Uint8Array(20 << 20); ''"));
        assert!(too_large.is_err(), "the base has 16 MiB");
        frozen.runtime.reset();
        assert_eq!(frozen.eval(STATE).unwrap(), state);
    }

    #[test]
    fn a_second_runtime_on_a_thread_is_reset_without_tracking() {
        let first = frozen();
        assert!(first.runtime.tracks_dirty_pages());
        let second = frozen();
        assert!(!second.runtime.tracks_dirty_pages());
        for _ in 0..3 {
            for frozen in [&first, &second] {
                assert_eq!(frozen.eval("items.push(4); String(items)").unwrap(), "1,2,3,4");
                frozen.runtime.reset();
            }
        }
    }

    #[test]
    fn a_runtime_is_not_reset_while_its_code_runs() {
        let frozen = frozen();
        let reset = || frozen.context.with(|_| frozen.runtime.reset());
        assert!(catch_unwind(AssertUnwindSafe(reset)).is_err());
        assert_eq!(frozen.eval("String(items)").unwrap(), "1,2,3");
    }

    #[test]
    fn a_limit_that_is_too_low_is_an_error() {
        assert!(SnapshotRuntime::new(100).is_err());
        assert!(MeteredRuntime::new(100).is_err());
        let runtime = MeteredRuntime::new(1 << 20).unwrap();
        assert!(runtime.meter().set_limit(runtime.meter().used() + 100));
        assert!(runtime.new_context::<intrinsic::All>().is_err());
        assert!(!runtime.meter().was_refused(), "the runtime can be used with a higher limit");
        assert!(runtime.meter().set_limit(1 << 20) && runtime.new_context::<intrinsic::All>().is_ok());
    }
}
