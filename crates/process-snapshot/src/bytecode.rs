//! Modules compiled to bytecode.

#![expect(unsafe_code, reason = "QuickJS does not verify bytecode")]

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
