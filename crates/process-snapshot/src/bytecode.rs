//! Modules compiled to bytecode.

#![expect(unsafe_code, reason = "QuickJS does not verify bytecode")]

use std::mem::{ManuallyDrop, transmute};

use rquickjs::{Ctx, Module, WriteOptions, module::Declared};

/// Bytecode of one module, made by this program. QuickJS trusts what it loads.
pub struct Bytecode(Vec<u8>);

impl Bytecode {
    /// Compiles app code, with the places in its source for stack traces.
    ///
    /// # Errors
    /// If the memory limit of the module's runtime is reached.
    pub fn with_debug_info(module: &Module<'_, Declared>) -> rquickjs::Result<Self> {
        let options = WriteOptions { strip_source: true, ..Default::default() };
        module.write(options).map(Self)
    }

    /// Compiles code whose stack traces nobody reads; it loads faster.
    ///
    /// # Errors
    /// If the memory limit of the module's runtime is reached.
    pub fn stripped(module: &Module<'_, Declared>) -> rquickjs::Result<Self> {
        let options = WriteOptions { strip_source: true, strip_debug: true, ..Default::default() };
        module.write(options).map(Self)
    }

    /// Takes bytes from another process of this program.
    ///
    /// They must be those of [`Bytecode::as_bytes`] in a process of the same build that had run no foreign code: the engine does
    /// not verify them, and memory is corrupted otherwise.
    #[must_use]
    pub fn from_same_program(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// Returns the bytes, for another process of this program.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Declares the module in a context; its imports are linked when it is evaluated.
    ///
    /// # Errors
    /// If the memory limit of the runtime is reached.
    pub fn load<'js>(&self, ctx: Ctx<'js>) -> rquickjs::Result<Module<'js, Declared>> {
        // SAFETY: only `Module::write` makes the bytes, with the engine that this very program is linked with. The caller of
        // `from_same_program` promised it.
        unsafe { Module::load(ctx, &self.0) }
    }
}

/// A declared module that outlives the [`Context::with`](rquickjs::Context::with) in which it was declared.
///
/// It is never dropped, so that it may be part of a state that a runtime is reset to.
pub struct DeclaredModule(ManuallyDrop<Module<'static, Declared>>);

impl DeclaredModule {
    /// Keeps a module. The runtime must live, and be in a state that has the module, whenever it is restored.
    #[must_use]
    pub fn save(module: Module<'_, Declared>) -> Self {
        // SAFETY: only the lifetime changes. `restore` gives it that of a context in use, and nothing else uses it.
        Self(ManuallyDrop::new(unsafe {
            transmute::<Module<'_, Declared>, Module<'static, Declared>>(module)
        }))
    }

    /// Returns the module for its context.
    ///
    /// # Errors
    /// [`rquickjs::Error::UnrelatedRuntime`] for another context.
    pub fn restore<'js>(&self, ctx: &Ctx<'js>) -> rquickjs::Result<Module<'js, Declared>> {
        if self.0.ctx().as_raw() != ctx.as_raw() {
            return Err(rquickjs::Error::UnrelatedRuntime);
        }
        // SAFETY: only the lifetime changes. The context is in use for `'js`, and the module is of this context.
        Ok(unsafe { transmute::<Module<'static, Declared>, Module<'js, Declared>>((*self.0).clone()) })
    }
}
