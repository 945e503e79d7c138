//! Modules compiled to bytecode.

#![expect(unsafe_code, reason = "QuickJS does not verify bytecode")]

use rquickjs::{Ctx, Module, WriteOptions, module::Declared};

/// Bytecode of one module. It can be made from a module alone, never from bytes, since QuickJS trusts what it loads.
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

    /// Declares the module in a context; its imports are linked when it is evaluated.
    ///
    /// # Errors
    /// If the memory limit of the runtime is reached.
    pub fn load<'js>(&self, ctx: Ctx<'js>) -> rquickjs::Result<Module<'js, Declared>> {
        // SAFETY: only `Module::write` makes the bytes, with the engine that this very program is linked with.
        unsafe { Module::load(ctx, &self.0) }
    }
}
