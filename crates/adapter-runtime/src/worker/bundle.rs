//! Bundles compiled to bytecode, and the resolution of their imports.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use bytes::Bytes;
use process_snapshot::{Bytecode, MeteredRuntime};
use rquickjs::{
    Context, Ctx, Module,
    context::intrinsic,
    loader::{ImportAttributes, Loader, Resolver},
    module::Declared,
};
use runs::engine::FailureCode;

use super::{budget::Budget, parent_pipe::ParentPipe};
use crate::protocol::{CompiledModules, Fault, JobLimits, has_extension, is_typescript};

/// Names that the entry module of a bundle may have.
const ENTRY_MODULES: [&str; 2] = ["main.js", "main.ts"];
/// Name of the prelude's module. No file of a bundle has such a name, and stack traces leave its frames out.
pub(super) const PRELUDE_MODULE: &str = "qala:prelude";
/// Bytes of native stack that JavaScript may use. The thread has eight times as much.
const MAX_NATIVE_STACK: usize = 1 << 20;

/// Bytes in use at which garbage is first collected, unless the limit is low. Most invocations end before and are freed as a
/// whole.
const GC_THRESHOLD: usize = 4 << 20;

const PRELUDE_SOURCE: &str = concat!(
    include_str!("../js/00_base.js"),
    include_str!("../js/10_console.js"),
    include_str!("../js/20_encoding.js"),
    include_str!("../js/25_weak.js"),
    include_str!("../js/30_events.js"),
    include_str!("../js/40_url.js"),
    include_str!("../js/45_lazy.js"),
    include_str!("../js/50_http.js"),
    include_str!("../js/60_crypto.js"),
    include_str!("../js/65_secrets.js"),
    include_str!("../js/70_sending.js"),
    include_str!("../js/90_install.js"),
);

/// Modules beside the prelude, with the same rules, by the name that [`CompiledBundle::compile_prelude`] gives them.
const LAZY_SOURCES: [(&str, &str); 6] = [
    (
        "compression",
        concat!(
            include_str!("../js/compression/00_streams.js"),
            include_str!("../js/compression/90_install.js"),
        ),
    ),
    (
        "crypto",
        concat!(
            include_str!("../js/crypto/00_parameters.js"),
            include_str!("../js/crypto/10_keys.js"),
            include_str!("../js/crypto/20_subtle.js"),
            include_str!("../js/crypto/90_install.js"),
        ),
    ),
    (
        "files",
        concat!(
            include_str!("../js/files/00_blob.js"),
            include_str!("../js/files/10_form_data.js"),
            include_str!("../js/files/20_multipart.js"),
            include_str!("../js/files/90_install.js"),
        ),
    ),
    (
        "intl",
        concat!(
            include_str!("../js/intl/00_locales.js"),
            include_str!("../js/intl/10_options.js"),
            include_str!("../js/intl/20_format.js"),
            include_str!("../js/intl/90_install.js"),
        ),
    ),
    (
        "numbers",
        concat!(
            include_str!("../js/numbers/00_options.js"),
            include_str!("../js/numbers/10_number_format.js"),
            include_str!("../js/numbers/20_words.js"),
            include_str!("../js/numbers/90_install.js"),
        ),
    ),
    (
        "streams",
        concat!(
            include_str!("../js/streams/00_base.js"),
            include_str!("../js/streams/10_readable.js"),
            include_str!("../js/streams/20_writable.js"),
            include_str!("../js/streams/30_pipe.js"),
            include_str!("../js/streams/40_transform.js"),
            include_str!("../js/streams/90_install.js"),
        ),
    ),
];

/// Intrinsics of app code. Without [`intrinsic::Eval`] no text becomes code: `eval`, `Function` and the like throw.
type AppIntrinsics = (
    intrinsic::Date,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
    intrinsic::Performance,
    intrinsic::WeakRef,
    intrinsic::DOMException,
);

/// The modules of a bundle as bytecode, by name.
pub(super) struct CompiledBundle {
    entry: String,
    modules: BTreeMap<String, Bytecode>,
    /// True if its modules did not fit into the memory that is frozen.
    is_too_large: Cell<bool>,
}

/// The only context of a runtime, under a budget.
pub(super) struct Realm {
    pub(super) context: Context,
    pub(super) budget: Rc<Budget>,
}

impl Realm {
    /// Makes a realm for app code. It loads modules of the bundle that `current` holds at the time. While the code computes, what it
    /// has logged is sent now and then.
    pub(super) fn for_app(
        limits: JobLimits,
        runtime: &MeteredRuntime,
        current: &Rc<RefCell<Option<Rc<CompiledBundle>>>>,
        pipe: &Rc<RefCell<ParentPipe>>,
    ) -> rquickjs::Result<Self> {
        let pipe = Rc::clone(pipe);
        let budget = configure(runtime, limits, move || {
            // Borrowed while a message is written, which calls no code.
            if let Ok(mut pipe) = pipe.try_borrow_mut() {
                pipe.flush_overdue();
            }
        });
        let bundle = Rc::clone(current);
        let knows = move |path: &str| {
            bundle.borrow().as_ref().is_some_and(|bundle| bundle.modules.contains_key(path))
        };
        let resolver = RelativeResolver(Box::new(knows));
        runtime.runtime().set_loader(resolver, BytecodeLoader(Rc::clone(current)));
        Ok(Self { context: runtime.new_context::<AppIntrinsics>()?, budget })
    }

    /// Makes a realm that compiles modules of these names, and runs nothing.
    fn for_compiler(limits: JobLimits, names: BTreeSet<String>) -> rquickjs::Result<Self> {
        let runtime = MeteredRuntime::new(usize::try_from(limits.memory).unwrap_or(usize::MAX))?;
        let budget = configure(&runtime, limits, || ());
        let resolver = RelativeResolver(Box::new(move |path| names.contains(path)));
        runtime.runtime().set_loader(resolver, StubLoader);
        let context = runtime.new_context::<(intrinsic::Eval, intrinsic::RegExpCompiler, AppIntrinsics)>()?;
        Ok(Self { context, budget })
    }
}

/// Puts a runtime under a budget. `on_check` is called whenever it is checked.
fn configure(metered: &MeteredRuntime, limits: JobLimits, on_check: impl Fn() + 'static) -> Rc<Budget> {
    let runtime = metered.runtime();
    runtime.set_max_stack_size(MAX_NATIVE_STACK);
    runtime.set_gc_threshold(gc_threshold(limits));
    let budget = Budget::new(limits, Rc::clone(metered.meter()));
    let interrupt_budget = Rc::clone(&budget);
    runtime.set_interrupt_handler(Some(Box::new(move || {
        on_check();
        interrupt_budget.exceeded_limit().is_some()
    })));
    budget
}

/// Returns the bytes in use at which garbage is first collected.
pub(super) fn gc_threshold(limits: JobLimits) -> usize {
    GC_THRESHOLD.min(usize::try_from(limits.memory / 4).unwrap_or(usize::MAX))
}

impl CompiledBundle {
    /// Compiles the prelude, and the modules that it loads when code first uses them, by name.
    pub(super) fn compile_prelude() -> rquickjs::Result<(Bytecode, BTreeMap<&'static str, Bytecode>)> {
        let limits = JobLimits {
            wall_micros: 60_000_000,
            cpu_micros: 60_000_000,
            memory: 64 << 20,
            log_lines: 0,
            host_calls: 0,
            output: 0,
            streamed: 0,
        };
        let realm = Realm::for_compiler(limits, BTreeSet::new())?;
        let compile = |name: &str, source: &str| {
            realm.context.with(|ctx| Bytecode::stripped(&Module::declare(ctx, name, source)?))
        };
        let lazy = LAZY_SOURCES
            .into_iter()
            .map(|(name, source)| Ok((name, compile(&format!("qala:{name}"), source)?)))
            .collect::<rquickjs::Result<_>>()?;
        Ok((compile(PRELUDE_MODULE, PRELUDE_SOURCE)?, lazy))
    }

    /// Compiles all modules of a bundle, whose types are stripped.
    pub(super) fn compile(files: &BTreeMap<String, String>, limits: JobLimits) -> Result<Self, Fault> {
        let entry = ENTRY_MODULES.into_iter().find(|name| files.contains_key(*name));
        let no_entry = || Fault::new(FailureCode::InvalidBundle, "the bundle has no main.js and no main.ts");
        let entry = entry.ok_or_else(no_entry)?;
        let names = files.keys().filter(|name| is_module(name)).cloned().collect();
        let realm = Realm::for_compiler(limits, names)
            .map_err(|_| Fault::new(FailureCode::MemoryExceeded, "the code does not fit into memory"))?;
        let mut modules = BTreeMap::new();
        for (name, source) in files {
            if !is_module(name) {
                continue;
            }
            let compiled = realm.context.with(|ctx| {
                Module::declare(ctx.clone(), name.as_str(), source.as_str())
                    .and_then(|module| Bytecode::with_debug_info(&module))
                    .map_err(|error| syntax_fault(&ctx, name, &error))
            });
            if let Some(fault) = realm.budget.fault() {
                return Err(fault);
            }
            modules.insert(name.clone(), compiled?);
        }
        Ok(Self { entry: entry.to_owned(), modules, is_too_large: Cell::default() })
    }

    /// Encodes the modules for the parent; `None` if they cannot be encoded.
    pub(super) fn encode(&self) -> Option<Bytes> {
        let modules = self.modules.iter().map(|(name, code)| (name.clone(), code.as_bytes().to_vec()));
        let compiled = CompiledModules { entry: self.entry.clone(), modules: modules.collect() };
        postcard::to_stdvec(&compiled).ok().map(Bytes::from)
    }

    /// Takes modules from the parent, which has them from a process of this program that had run no app code; `None` if they are
    /// none.
    pub(super) fn decode(encoded: &[u8]) -> Option<Self> {
        let CompiledModules { entry, modules } = postcard::from_bytes(encoded).ok()?;
        let modules = modules.into_iter().map(|(name, code)| (name, Bytecode::from_same_program(code)));
        Some(Self { entry, modules: modules.collect(), is_too_large: Cell::default() })
    }
}

/// Strips the types of the TypeScript among the files. They become spaces, so that errors are at the line and column of the source.
pub(super) fn strip_types(files: &mut BTreeMap<String, String>) -> Result<(), Fault> {
    for (name, source) in files.iter_mut().filter(|(name, _)| is_typescript(name)) {
        let invalid = |error| Fault::new(FailureCode::InvalidBundle, format!("{name}:{error}"));
        *source = type_stripper::strip_types(source).map_err(invalid)?;
    }
    Ok(())
}

/// Returns true if a file of a bundle is a module. Others are for people, and for uses outside of the worker.
fn is_module(name: &str) -> bool {
    !name.contains(':') && (is_typescript(name) || has_extension(name, &["js", "mjs"]))
}

/// Makes a fault with a message like `main.js:3:5: SyntaxError: …`.
fn syntax_fault(ctx: &Ctx<'_>, name: &str, error: &rquickjs::Error) -> Fault {
    let message = if error.is_exception() {
        let thrown = ctx.catch();
        match thrown.as_exception() {
            Some(exception) => {
                let stack = exception.stack().unwrap_or_default();
                let place = stack
                    .lines()
                    .next()
                    .and_then(|line| line.trim().strip_prefix("at "))
                    .map_or_else(|| name.to_owned(), str::to_owned);
                let kind: String = exception.as_object().get("name").unwrap_or_default();
                format!("{place}: {kind}: {}", exception.message().unwrap_or_default())
            }
            None => format!("{name}: the module does not compile"),
        }
    } else {
        format!("{name}: {error}")
    };
    Fault::new(FailureCode::InvalidBundle, message)
}

/// Resolves `./x.js` and `../x.js` to files of the bundle that the function knows, and nothing else.
struct RelativeResolver(Box<dyn Fn(&str) -> bool>);

impl Resolver for RelativeResolver {
    fn resolve<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        base: &str,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<String> {
        let wanted = resolve_relative(base, name);
        let found = wanted.and_then(|path| {
            if (self.0)(&path) { Some(path) } else { typescript_of(&path).filter(|path| (self.0)(path)) }
        });
        found.ok_or_else(|| {
            rquickjs::Exception::throw_reference(
                ctx,
                &format!("{base} imports {name}, which is not in the bundle"),
            )
        })
    }
}

fn resolve_relative(base: &str, name: &str) -> Option<String> {
    if !name.starts_with("./") && !name.starts_with("../") {
        return None;
    }
    let mut parts: Vec<&str> = base.split('/').collect();
    parts.pop();
    for part in name.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the name that a module has as TypeScript: tools for TypeScript name a module as it is called after compilation.
fn typescript_of(path: &str) -> Option<String> {
    path.strip_suffix(".js").map(|stem| format!("{stem}.ts"))
}

/// Loads an empty module for every import while its importer is compiled. Exports are looked up when the bundle is linked.
struct StubLoader;

impl Loader for StubLoader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        Module::declare(ctx.clone(), name, "")
    }
}

/// Loads modules of the current bundle.
struct BytecodeLoader(Rc<RefCell<Option<Rc<CompiledBundle>>>>);

impl Loader for BytecodeLoader {
    fn load<'js>(
        &mut self,
        ctx: &Ctx<'js>,
        name: &str,
        _: Option<ImportAttributes<'js>>,
    ) -> rquickjs::Result<Module<'js, Declared>> {
        let current = self.0.borrow().clone();
        current.ok_or_else(|| rquickjs::Error::new_loading(name.to_owned()))?.load(ctx, name)
    }
}

impl CompiledBundle {
    /// Returns the bytes of the bytecode.
    pub(super) fn size(&self) -> usize {
        self.modules.values().map(|code| code.as_bytes().len()).sum()
    }

    /// Returns true unless [`CompiledBundle::forbid_preload`] was called.
    pub(super) fn may_be_preloaded(&self) -> bool {
        !self.is_too_large.get()
    }

    /// Records that the modules did not fit into the memory that is frozen.
    pub(super) fn forbid_preload(&self) {
        self.is_too_large.set(true);
    }

    /// Declares the entry module, and those that it imports.
    pub(super) fn load_entry<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Module<'js, Declared>> {
        self.load(ctx, &self.entry)
    }

    /// Declares one module; its imports are linked when it is evaluated.
    pub(super) fn load<'js>(&self, ctx: &Ctx<'js>, name: &str) -> rquickjs::Result<Module<'js, Declared>> {
        let bytecode = self.modules.get(name).ok_or_else(|| rquickjs::Error::new_loading(name.to_owned()))?;
        bytecode.load(ctx.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::resolve_relative;

    #[test]
    fn imports_stay_in_the_bundle() {
        for (base, name, path) in [
            ("main.js", "./lib/x.js", Some("lib/x.js")),
            ("lib/x.js", "./y.js", Some("lib/y.js")),
            ("lib/x.js", "../main.js", Some("main.js")),
            ("main.js", "../secret.js", None),
            ("main.js", "fs", None),
            ("main.js", "/etc/passwd", None),
            ("main.js", "https://example.com/x.js", None),
            ("main.js", "qala:prelude", None),
        ] {
            assert_eq!(resolve_relative(base, name).as_deref(), path, "{base} {name}");
        }
    }
}
