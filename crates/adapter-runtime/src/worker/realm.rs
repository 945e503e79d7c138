//! The realm that app code runs in: built once, and reset after each invocation.

use std::{
    cell::{Cell, RefCell},
    mem::{self, ManuallyDrop},
    rc::Rc,
};

use process_snapshot::{DeclaredModule, SnapshotRuntime};
use rquickjs::{Context, Ctx, Function, Module, Object, Persistent, Promise, Value, module::Declared};
use runs::engine::FailureCode;

use super::{
    budget::Budget,
    bundle::{CompiledBundle, Realm, gc_threshold},
    invocation_state::InvocationState,
    natives::build_natives,
    parent_pipe::ParentPipe,
};
use crate::protocol::{Fault, JobLimits};

/// Limits while the realm is built.
const BUILD_LIMITS: JobLimits = JobLimits {
    wall_micros: 60_000_000,
    cpu_micros: 60_000_000,
    memory: 64 << 20,
    log_lines: 0,
    host_calls: 0,
    output: 1000,
    streamed: 0,
};

/// Rejected promises that are held at once, at most. Further ones are never logged.
const MAX_REJECTIONS: usize = 1000;

/// A context with the prelude. Between invocations it has nothing of any app.
pub(super) struct AppRealm {
    // Never dropped: these are handles from before the freeze, which must exist at every reset.
    realm: ManuallyDrop<Realm>,
    prelude: ManuallyDrop<PreludeHandles>,
    runtime: ManuallyDrop<SnapshotRuntime>,
    current_bundle: Rc<RefCell<Option<Rc<CompiledBundle>>>>,
    preloaded: RefCell<Option<PreloadedBundle>>,
    pub(super) invocation: Rc<InvocationState>,
    pub(super) rejections: Rc<Rejections>,
    is_dirty: Cell<bool>,
}

/// A bundle whose entry module is declared in the state that resets go back to, with those that it imports.
struct PreloadedBundle {
    bundle: Rc<CompiledBundle>,
    entry: DeclaredModule,
}

/// JavaScript values that Rust holds from before the freeze.
struct PreludeHandles {
    driver: Persistent<Object<'static>>,
    /// Keeps the native functions alive, whatever references app code deletes: freeing one would drop a Rust closure that the
    /// reset cannot bring back.
    _natives: Persistent<Object<'static>>,
}

impl AppRealm {
    /// Builds the realm, runs the prelude in it and freezes it.
    pub(super) fn build(pipe: Rc<RefCell<ParentPipe>>) -> rquickjs::Result<Self> {
        let (prelude, modules) = CompiledBundle::compile_prelude()?;
        let runtime = SnapshotRuntime::new(usize::try_from(BUILD_LIMITS.memory).unwrap_or(usize::MAX))?;
        let current_bundle = Rc::default();
        let realm = Realm::for_app(BUILD_LIMITS, runtime.metered(), &current_bundle, &pipe)?;
        let invocation = InvocationState::new(pipe, BUILD_LIMITS);
        let prelude = realm.context.with(|ctx| {
            let (module, _) = prelude.load(ctx.clone())?.eval()?;
            let natives = build_natives(&ctx, &invocation, modules)?;
            let install: Function<'_> = module.get("install")?;
            let driver: Object<'_> = install.call((natives.clone(),))?;
            while ctx.execute_pending_job() {}
            let (driver, natives) = (Persistent::save(&ctx, driver), Persistent::save(&ctx, natives));
            Ok::<_, rquickjs::Error>(PreludeHandles { driver, _natives: natives })
        })?;
        let rejections = Rc::<Rejections>::default();
        let tracked = Rc::clone(&rejections);
        runtime.metered().runtime().set_host_promise_rejection_tracker(Some(Box::new(
            move |ctx, promise, reason, is_handled| tracked.track(&ctx, promise, reason, is_handled),
        )));
        runtime.freeze();
        Ok(Self {
            realm: ManuallyDrop::new(realm),
            prelude: ManuallyDrop::new(prelude),
            runtime: ManuallyDrop::new(runtime),
            current_bundle,
            preloaded: RefCell::default(),
            invocation,
            rejections,
            is_dirty: Cell::new(false),
        })
    }

    pub(super) fn context(&self) -> &Context {
        &self.realm.context
    }

    pub(super) fn budget(&self) -> &Budget {
        &self.realm.budget
    }

    /// Returns the object with the functions of the prelude that Rust calls.
    pub(super) fn driver<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Object<'js>> {
        self.prelude.driver.clone().restore(ctx)
    }

    /// Resets the realm and starts an invocation of a bundle.
    pub(super) fn start_invocation(
        &self,
        limits: JobLimits,
        bundle: &Rc<CompiledBundle>,
    ) -> Result<(), Fault> {
        self.reset();
        self.discard_preloaded_other_than(bundle);
        self.is_dirty.set(true);
        if !self.budget().restart(limits) {
            return Err(Fault::new(FailureCode::MemoryExceeded, "the memory limit is too small to start"));
        }
        self.context().runtime().set_gc_threshold(gc_threshold(limits));
        self.invocation.reset(limits);
        self.current_bundle.replace(Some(Rc::clone(bundle)));
        Ok(())
    }

    /// Returns the entry module of the bundle of the invocation, declared.
    pub(super) fn entry_module<'js>(
        &self,
        ctx: &Ctx<'js>,
        bundle: &CompiledBundle,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        match &*self.preloaded.borrow() {
            // It is the one of the invocation, or it had been discarded.
            Some(preloaded) => preloaded.entry.restore(ctx),
            None => bundle.load_entry(ctx),
        }
    }

    /// Declares the entry module of a bundle, and those that it imports, for all invocations to come that run it. Each would spend
    /// most of its time on reading the bytecode of a large bundle. Does nothing if they do not fit into the memory that is frozen.
    pub(super) fn preload(&self, bundle: &Rc<CompiledBundle>) {
        let is_same = |preloaded: &PreloadedBundle| Rc::ptr_eq(&preloaded.bundle, bundle);
        if self.preloaded.borrow().as_ref().is_some_and(is_same) || !bundle.may_be_preloaded() {
            return;
        }
        self.reset();
        self.preloaded.take();
        self.current_bundle.replace(Some(Rc::clone(bundle)));
        let entry = self.runtime.extend(|| {
            self.budget().restart(BUILD_LIMITS);
            let entry = self.context().with(|ctx| {
                let entry = bundle.load_entry(&ctx).inspect_err(|_| drop(ctx.catch()));
                entry.map(DeclaredModule::save)
            });
            // A runtime that was refused memory is not frozen.
            entry.ok().filter(|_| !self.runtime.metered().meter().was_refused()).ok_or(())
        });
        self.current_bundle.take();
        match entry {
            Ok(entry) => {
                self.preloaded.replace(Some(PreloadedBundle { bundle: Rc::clone(bundle), entry }));
            }
            Err(()) => bundle.forbid_preload(),
        }
    }

    fn discard_preloaded_other_than(&self, bundle: &Rc<CompiledBundle>) {
        let is_other = |preloaded: &mut PreloadedBundle| !Rc::ptr_eq(&preloaded.bundle, bundle);
        if self.preloaded.borrow_mut().take_if(is_other).is_some() {
            self.runtime.discard_extension();
        }
    }

    /// Resets the realm, unless nothing was done in it since the last reset.
    pub(super) fn reset(&self) {
        if self.is_dirty.replace(false) {
            self.current_bundle.take();
            self.rejections.forget();
            self.runtime.reset();
        }
    }
}

/// The promises that were rejected and that nothing handles yet, with the reasons, in the order of their rejection.
#[derive(Default)]
pub(super) struct Rejections(RefCell<Vec<Rejection>>);

struct Rejection {
    promise: Persistent<Value<'static>>,
    reason: Persistent<Value<'static>>,
}

impl Rejections {
    /// Takes note of a promise that was rejected without a handler, or that has got its first one since.
    fn track<'js>(&self, ctx: &Ctx<'js>, promise: Value<'js>, reason: Value<'js>, is_handled: bool) {
        let promise = Persistent::save(ctx, promise);
        if is_handled {
            let mut pending = self.0.borrow_mut();
            // Most are handled soon after they were rejected.
            let found = pending.iter().rposition(|known| known.promise == promise);
            let removed = found.map(|at| pending.remove(at));
            drop(pending);
            drop(removed);
        } else if self.0.borrow().len() < MAX_REJECTIONS {
            let reason = Persistent::save(ctx, reason);
            self.0.borrow_mut().push(Rejection { promise, reason });
        }
    }

    /// Takes the reasons of all promises that are still not handled, but for the one whose result the caller looks at.
    pub(super) fn take_reasons<'js>(&self, ctx: &Ctx<'js>, awaited: &Promise<'js>) -> Vec<Value<'js>> {
        let pending = self.0.take();
        if pending.is_empty() {
            return Vec::new();
        }
        let awaited = Persistent::save(ctx, awaited.clone().into_value());
        let unhandled = pending.into_iter().filter(|rejection| rejection.promise != awaited);
        unhandled.filter_map(|rejection| rejection.reason.restore(ctx).ok()).collect()
    }

    /// Forgets all without freeing them, before a reset takes their memory.
    fn forget(&self) {
        self.0.take().into_iter().for_each(mem::forget);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use runs::engine::Bindings;

    use super::*;
    use crate::{
        protocol::{Outcome, Task},
        worker::task_runner::run_task,
    };

    const LIMITS: JobLimits =
        JobLimits { wall_micros: 3_000_000, memory: 16 << 20, log_lines: 10, output: 10_000, ..BUILD_LIMITS };

    /// Code that looks at everything an earlier invocation could have changed.
    const PROBE: &str = "
        import { name } from './other.js';
        return [
            name, typeof kept, {}.polluted, [1].push(2), new URL('https://a.example/b?c=1').searchParams.get('c'),
            performance.now() < 2000, setTimeout(() => {}, 9), new Map([[1, 2]]).get(1), typeof structuredClone,
            Object.getOwnPropertyNames(globalThis).length, Symbol.keyFor(Symbol.for('x')), `${new Error('e')}`,
            new TextDecoder().decode(new TextEncoder().encode('é')), Error.prepareStackTrace === undefined,
        ];";

    fn invoke(realm: &AppRealm, code: &str) -> Result<String, FailureCode> {
        let (imports, body) =
            if code.contains("import") { code.split_at(code.find(';').unwrap() + 1) } else { ("", code) };
        let main = format!("{imports}\nexport default {{ scheduled(event) {{ {body} }} }};");
        let files = BTreeMap::from([
            ("main.js".to_owned(), main),
            ("other.js".to_owned(), "export const name = 'other';".to_owned()),
        ]);
        let compiled = Rc::new(CompiledBundle::compile(&files, BUILD_LIMITS).unwrap());
        let task = Task::Scheduled("{}".to_owned());
        let outcome = run_task(task, &Bindings::default(), LIMITS, &compiled, realm, &RefCell::default());
        realm.reset();
        match outcome {
            Ok(Outcome::Json(json)) => Ok(json),
            Ok(_) => panic!("not the outcome of a scheduled handler"),
            Err(fault) => Err(fault.code),
        }
    }

    #[test]
    fn whatever_code_does_a_reset_undoes_it() {
        let realm = AppRealm::build(Rc::default()).unwrap();
        let used = || realm.runtime.metered().meter().used();
        let used_before = used();
        let expected = invoke(&realm, PROBE).unwrap();
        assert!(
            expected.starts_with(r#"["other","undefined",null,2,"1",true,1,2,"function","#),
            "{expected}"
        );
        for (ends, code) in [
            ("app_error", "for (const name of Object.getOwnPropertyNames(globalThis)) delete globalThis[name];"),
            ("ok", "Object.prototype.polluted = 1; Array.prototype.push = Map.prototype.get = null;"),
            ("app_error", "Promise.prototype.then = () => {}; Error.prepareStackTrace = () => 1; null.x;"),
            ("ok", "globalThis.kept = Array.from({ length: 50_000 }, (_, at) => ({ at })); kept.self = kept;"),
            ("memory_exceeded", "const all = []; for (;;) all.push(new Uint8Array(1e6));"),
            ("memory_exceeded", "const all = []; try { for (;;) all.push({}); } catch { return 1; }"),
            ("memory_exceeded", "globalThis.kept = new Uint8Array(64e6);"),
            ("app_error", "let text = 'x'; for (;;) text += text;"),
            ("app_error", "(function deeper() { deeper(); })();"),
            ("timeout", "for (;;);"),
            ("ok", "new FinalizationRegistry(() => {}).register({}, 1); setInterval(() => {}, 5);"),
            ("ok", "for (let at = 0; at < 5000; at++) globalThis[Symbol.for(`s${at}`)] = BigInt(at) ** 9n;"),
            (
                "ok",
                "globalThis.kept = [new TextDecoder('sjis'), new Blob(['x']), new CompressionStream('gzip'), new FormData(), Intl];
                 kept[0].decode(new Uint8Array([0x93]), { stream: true });
                 crypto.subtle.generateKey('Ed25519', true, ['sign']).then((pair) => kept.push(pair));
                 return new Date(0).toLocaleString('kk', { timeZone: 'Asia/Almaty' });",
            ),
            ("ok", "for (let at = 0; at < 3000; at++) Promise.reject(new Array(100)); (async () => { throw 1; })();"),
            ("timeout", "globalThis.kept = Promise.reject({ held: new Array(1000) }); for (;;);"),
            ("app_error", "throw Array.from({ length: 999 }, (_, at) => new Headers({ at }));"),
            (
                "ok",
                "Error.prepareStackTrace = (_, sites) => { globalThis.found = sites.map((site) => site.getFunction()); };
                 try { new URL(Symbol()); } catch (error) { error.stack; }
                 for (const found of globalThis.found ?? []) { delete found.name; found.kept = new Array(1000); }",
            ),
        ] {
            assert_eq!(invoke(&realm, code).map_or_else(FailureCode::as_str, |_| "ok"), ends, "{code}");
            assert_eq!((used(), realm.runtime.has_transient_blocks()), (used_before, false), "{code}");
            assert_eq!(invoke(&realm, PROBE).unwrap(), expected, "after {code}");
        }
    }

    /// Compiles a bundle of a module that counts its evaluations, and of others that it imports.
    fn counting_bundle(number: u32) -> Rc<CompiledBundle> {
        let main = format!(
            "import {{ items }} from './items.js'; let evaluated = 0; evaluated++; items.push({number});
             export default {{ async scheduled() {{
                 const late = await import('./late.js');
                 return [{number}, evaluated++, items.length, late.late, typeof globalThis.kept, globalThis.kept = 1];
             }} }};"
        );
        let files = [
            ("main.js", main.as_str()),
            ("items.js", "export const items = [];"),
            (
                "late.js",
                "import { items } from './items.js'; items.push('late'); export const late = items.join();",
            ),
            ("unused.js", "throw new Error('evaluated');"),
        ];
        let files = files.map(|(name, source)| (name.to_owned(), source.to_owned())).into();
        Rc::new(CompiledBundle::compile(&files, BUILD_LIMITS).unwrap())
    }

    fn run_bundle(realm: &AppRealm, bundle: &Rc<CompiledBundle>) -> String {
        let task = Task::Scheduled(r#"{"data":null}"#.to_owned());
        let pipe = RefCell::default();
        let outcome = run_task(task, &Bindings::default(), LIMITS, bundle, realm, &pipe);
        realm.reset();
        let Ok(Outcome::Json(json)) = outcome else { panic!("{outcome:?}") };
        json
    }

    #[test]
    fn preloaded_bundles_are_evaluated_anew_each_time() {
        let realm = AppRealm::build(Rc::default()).unwrap();
        let expected = invoke(&realm, PROBE).unwrap();
        let used = realm.runtime.metered().meter().used();
        let bundles = [1, 2].map(counting_bundle);
        let returned = |number| format!(r#"[{number},1,2,"{number},late","undefined",1]"#);
        for round in 0..30 {
            let (number, bundle) = (round / 5 % 2 + 1, &bundles[round / 5 % 2]);
            assert_eq!(run_bundle(&realm, bundle), returned(number), "round {round}");
            if round % 5 == 1 {
                realm.preload(bundle);
                assert!(realm.preloaded.borrow().is_some());
            }
        }
        assert_eq!(invoke(&realm, PROBE).unwrap(), expected, "other code finds nothing of it");
        assert!(realm.preloaded.borrow().is_none());
        assert_eq!(realm.runtime.metered().meter().used(), used);
    }

    #[test]
    fn a_bundle_that_is_too_large_for_the_frozen_memory_runs_as_before() {
        let realm = AppRealm::build(Rc::default()).unwrap();
        let text = format!(
            "export const text = {:?}; export default {{ scheduled: () => text.length }};",
            "ж".repeat(9 << 20)
        );
        let files = BTreeMap::from([("main.js".to_owned(), text)]);
        let bundle = Rc::new(
            CompiledBundle::compile(&files, JobLimits { memory: 512 << 20, ..BUILD_LIMITS }).unwrap(),
        );
        realm.preload(&bundle);
        assert!(realm.preloaded.borrow().is_none() && !bundle.may_be_preloaded());
        let limits = JobLimits { memory: 256 << 20, ..LIMITS };
        let task = Task::Scheduled(r#"{"data":null}"#.to_owned());
        let outcome = run_task(task, &Bindings::default(), limits, &bundle, &realm, &RefCell::default());
        assert!(matches!(outcome, Ok(Outcome::Json(json)) if json == "9437184"));
        assert!(invoke(&realm, PROBE).is_ok());
    }

    /// More invocations than resets between two at which all pages count as unwritten again.
    #[test]
    fn many_invocations_later_a_reset_still_undoes_everything() {
        let realm = AppRealm::build(Rc::default()).unwrap();
        let expected = invoke(&realm, PROBE).unwrap();
        for _ in 0..300 {
            invoke(&realm, "Object.prototype.polluted = 1; return 1;").unwrap();
        }
        assert_eq!(invoke(&realm, PROBE).unwrap(), expected);
        invoke(&realm, "globalThis.kept = 1; Map.prototype.get = null;").unwrap();
        assert_eq!(invoke(&realm, PROBE).unwrap(), expected);
    }

    #[test]
    fn a_limit_that_the_realm_itself_exceeds_is_a_fault() {
        let realm = AppRealm::build(Rc::default()).unwrap();
        let files = BTreeMap::from([("main.js".to_owned(), String::new())]);
        let compiled = Rc::new(CompiledBundle::compile(&files, BUILD_LIMITS).unwrap());
        let limits = JobLimits { memory: 1000, ..LIMITS };
        assert_eq!(
            realm.start_invocation(limits, &compiled).err().map(|fault| fault.code),
            Some(FailureCode::MemoryExceeded)
        );
        assert!(invoke(&realm, PROBE).is_ok());
    }
}
