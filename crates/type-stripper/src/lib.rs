//! Strips the types of TypeScript. Each is replaced by spaces, so that what is left is at its line and column, and no source map is
//! needed.
//!
//! Syntax that is not only types has no meaning without a compiler, and is refused: enumerations, namespaces, parameter
//! properties, `import x = …`, `export = …` and assertions in angle brackets. TypeScript's option `erasableSyntaxOnly` reports the
//! same. Imports of types are written `import type`, as `verbatimModuleSyntax` demands.

mod blank;
mod eraser;

use oxc_allocator::Allocator;
use oxc_ast_visit::Visit as _;
use oxc_parser::Parser;
use oxc_span::SourceType;

use eraser::Eraser;

/// Syntax that cannot be stripped, or is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct StripError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

/// Returns the JavaScript of a TypeScript module: the same text with spaces in place of types.
///
/// # Errors
/// [`StripError`] for the first place that is no TypeScript, or has a meaning that stripping would lose.
pub fn strip_types(source: &str) -> Result<String, StripError> {
    let allocator = Allocator::default();
    let source_type = SourceType::ts().with_module(true);
    let parsed = Parser::new(&allocator, source, source_type).parse();
    if let Some(error) = parsed.diagnostics.iter().next() {
        let at = error.labels.iter().next().map_or(0, |label| label.offset() as usize);
        return Err(error_at(source, at, error.message.to_string()));
    }
    let mut eraser = Eraser::new(source);
    eraser.visit_program(&parsed.program);
    match eraser.into_result() {
        Ok(blanks) => Ok(blanks.apply(source)),
        Err((at, message)) => Err(error_at(source, at as usize, message.to_owned())),
    }
}

fn error_at(source: &str, at: usize, message: String) -> StripError {
    let before = source.get(..at).unwrap_or(source);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    StripError {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message,
    }
}

#[cfg(test)]
mod tests;
