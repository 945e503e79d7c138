//! Translation of regular expressions into a form that matches the same text in every store.
//!
//! An expression is parsed, refused if it has a part that the stores interpret differently, and written again with the
//! rest spelled out: `\d` as `[0-9]`, and each letter in both cases if case is ignored.

use std::fmt::Write as _;

use regex_syntax::ast::{
    self, AssertionKind, Ast, ClassAsciiKind, ClassPerl, ClassPerlKind, ClassSet, ClassSetItem, GroupKind,
    RepetitionKind, RepetitionRange,
};

use crate::{
    error::{Error, Quoted, Result},
    store::Dialect,
};

/// Maximum length of an expression in characters.
const MAX_PATTERN: usize = 1_000;
/// Maximum count of a repetition, `{255}`; PostgreSQL's limit.
const MAX_REPEAT: u32 = 255;
/// Maximum number of states of an expression whose repetitions are written out.
const MAX_STATES: u32 = 4_000;
/// Maximum length in characters of a range whose case is ignored.
const MAX_FOLDED: u32 = 2_048;

/// Translates an expression for a dialect.
pub(crate) fn translate(pattern: &str, ignore_case: bool, dialect: Dialect) -> Result<String> {
    if pattern.chars().count() > MAX_PATTERN {
        return Err(Error::invalid_value(format!(
            "a regular expression has at most {MAX_PATTERN} characters"
        )));
    }
    let invalid = |error: &dyn std::fmt::Display| {
        Error::invalid_value(format!("{} is not a valid regular expression", Quoted(pattern)))
            .with_details(error)
    };
    let ast = ast::parse::ParserBuilder::new()
        .nest_limit(32)
        .build()
        .parse(pattern)
        .map_err(|error| invalid(&error.kind()))?;
    // Compiling would take long, and the count is the same for every store.
    if count_states(&ast) > MAX_STATES {
        return Err(invalid(&format_args!("its repetitions make it larger than {MAX_STATES} states")));
    }
    let mut writer = PatternWriter { out: String::new(), source: pattern, ignore_case, dialect };
    writer.write_ast(&ast)?;
    Ok(writer.out)
}

/// Estimates the number of states of an automaton for the expression.
fn count_states(ast: &Ast) -> u32 {
    let sum = |parts: &[Ast]| parts.iter().map(count_states).fold(0, u32::saturating_add);
    match ast {
        Ast::Empty(_) | Ast::Flags(_) | Ast::Assertion(_) => 1,
        Ast::Literal(literal) => {
            if literal.c.is_ascii() {
                1
            } else {
                4
            }
        }
        Ast::ClassUnicode(_) | Ast::ClassPerl(_) => 2,
        Ast::Dot(_) => 4,
        Ast::ClassBracketed(class) => match &class.kind {
            // A negated class contains most of Unicode.
            _ if class.negated => 8,
            ClassSet::Item(ClassSetItem::Union(union)) => {
                u32::try_from(union.items.len()).unwrap_or(u32::MAX).saturating_mul(2)
            }
            ClassSet::Item(_) | ClassSet::BinaryOp(_) => 2,
        },
        Ast::Repetition(repetition) => {
            let times = match &repetition.op.kind {
                RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore | RepetitionKind::OneOrMore => 1,
                RepetitionKind::Range(
                    RepetitionRange::Exactly(n)
                    | RepetitionRange::AtLeast(n)
                    | RepetitionRange::Bounded(_, n),
                ) => *n,
            };
            count_states(&repetition.ast).saturating_mul(times).saturating_add(1)
        }
        Ast::Group(group) => count_states(&group.ast),
        Ast::Alternation(alternation) => sum(&alternation.asts).saturating_add(1),
        Ast::Concat(concat) => sum(&concat.asts),
    }
}

struct PatternWriter<'p> {
    out: String,
    source: &'p str,
    ignore_case: bool,
    dialect: Dialect,
}

impl PatternWriter<'_> {
    fn unsupported<T>(&self, span: &ast::Span) -> Result<T> {
        let part = self.source.get(span.start.offset..span.end.offset).unwrap_or_default();
        Err(Error::unsupported(format!("{} in a regular expression", Quoted(part)))
            .with_hint("Databases interpret it differently. Write it out, or use `imatch` to ignore case."))
    }

    fn write_ast(&mut self, ast: &Ast) -> Result<()> {
        match ast {
            Ast::Empty(_) => {}
            Ast::Flags(flags) => return self.unsupported(&flags.span),
            Ast::ClassUnicode(class) => return self.unsupported(&class.span),
            Ast::Literal(literal) => {
                self.reject_nul(literal)?;
                let variants = if self.ignore_case { case_variants(literal.c) } else { vec![literal.c] };
                if let [only] = variants[..] {
                    write_escaped(&mut self.out, only);
                } else {
                    self.out.push('[');
                    variants.into_iter().for_each(|c| write_escaped(&mut self.out, c));
                    self.out.push(']');
                }
            }
            Ast::Dot(_) => self.out.push_str(match self.dialect {
                Dialect::Sqlite => "(?s:.)",
                Dialect::Postgres => ".",
            }),
            Ast::Assertion(assertion) => self.out.push_str(match (&assertion.kind, self.dialect) {
                (AssertionKind::StartLine | AssertionKind::StartText, _) => "^",
                (AssertionKind::EndLine | AssertionKind::EndText, _) => "$",
                (AssertionKind::WordBoundary, Dialect::Sqlite) => "(?-u:\\b)",
                (AssertionKind::WordBoundary, Dialect::Postgres) => "\\y",
                _ => return self.unsupported(&assertion.span),
            }),
            Ast::ClassPerl(class) => {
                self.out.push_str(if class.negated { "[^" } else { "[" });
                self.out.push_str(perl_class_chars(class));
                self.out.push(']');
            }
            Ast::ClassBracketed(class) => {
                self.out.push_str(if class.negated { "[^" } else { "[" });
                match &class.kind {
                    ClassSet::Item(item) => self.write_class_item(item)?,
                    ClassSet::BinaryOp(operation) => return self.unsupported(&operation.span),
                }
                self.out.push(']');
            }
            Ast::Repetition(repetition) => self.write_repetition(repetition)?,
            Ast::Group(group) => {
                match &group.kind {
                    GroupKind::CaptureIndex(_) => {}
                    GroupKind::NonCapturing(flags) if flags.items.is_empty() => {}
                    GroupKind::CaptureName { .. } | GroupKind::NonCapturing(_) => {
                        return self.unsupported(&group.span);
                    }
                }
                self.out.push_str("(?:");
                self.write_ast(&group.ast)?;
                self.out.push(')');
            }
            Ast::Alternation(alternation) => {
                for (index, branch) in alternation.asts.iter().enumerate() {
                    if index > 0 {
                        self.out.push('|');
                    }
                    self.write_ast(branch)?;
                }
            }
            Ast::Concat(concat) => concat.asts.iter().try_for_each(|part| self.write_ast(part))?,
        }
        Ok(())
    }

    fn write_repetition(&mut self, repetition: &ast::Repetition) -> Result<()> {
        // The stores disagree on these: they repeat nothing, or are an error.
        if matches!(*repetition.ast, Ast::Repetition(_) | Ast::Assertion(_) | Ast::Empty(_)) {
            return self.unsupported(&repetition.span);
        }
        self.write_ast(&repetition.ast)?;
        let most = MAX_REPEAT;
        match &repetition.op.kind {
            RepetitionKind::ZeroOrOne => self.out.push('?'),
            RepetitionKind::ZeroOrMore => self.out.push('*'),
            RepetitionKind::OneOrMore => self.out.push('+'),
            // Writing to a string does not fail.
            RepetitionKind::Range(RepetitionRange::Exactly(n)) if *n <= most => {
                let _ = write!(self.out, "{{{n}}}");
            }
            RepetitionKind::Range(RepetitionRange::AtLeast(n)) if *n <= most => {
                let _ = write!(self.out, "{{{n},}}");
            }
            RepetitionKind::Range(RepetitionRange::Bounded(n, m)) if n <= m && *m <= most => {
                let _ = write!(self.out, "{{{n},{m}}}");
            }
            RepetitionKind::Range(_) => return self.unsupported(&repetition.op.span),
        }
        if !repetition.greedy {
            self.out.push('?');
        }
        Ok(())
    }

    fn write_class_item(&mut self, item: &ClassSetItem) -> Result<()> {
        match item {
            ClassSetItem::Literal(literal) => {
                self.reject_nul(literal)?;
                let variants = if self.ignore_case { case_variants(literal.c) } else { vec![literal.c] };
                variants.into_iter().for_each(|c| write_escaped(&mut self.out, c));
            }
            ClassSetItem::Range(range) => {
                self.reject_nul(&range.start)?;
                let (start, end) = (range.start.c, range.end.c);
                if self.ignore_case {
                    if u32::from(end).saturating_sub(u32::from(start)) > MAX_FOLDED {
                        return self.unsupported(&range.span);
                    }
                    (start..=end)
                        .flat_map(|c| case_variants(c).into_iter().skip(1))
                        .for_each(|c| write_escaped(&mut self.out, c));
                }
                write_escaped(&mut self.out, start);
                self.out.push('-');
                write_escaped(&mut self.out, end);
            }
            ClassSetItem::Perl(class) if !class.negated => self.out.push_str(perl_class_chars(class)),
            ClassSetItem::Ascii(class) if !class.negated => self.out.push_str(match class.kind {
                ClassAsciiKind::Alpha => "A-Za-z",
                ClassAsciiKind::Alnum => "0-9A-Za-z",
                ClassAsciiKind::Digit => "0-9",
                ClassAsciiKind::Lower if !self.ignore_case => "a-z",
                ClassAsciiKind::Upper if !self.ignore_case => "A-Z",
                ClassAsciiKind::Lower | ClassAsciiKind::Upper => "A-Za-z",
                ClassAsciiKind::Space => "\t\n\u{b}\u{c}\r ",
                ClassAsciiKind::Xdigit => "0-9A-Fa-f",
                ClassAsciiKind::Word => "0-9A-Za-z_",
                _ => return self.unsupported(&class.span),
            }),
            ClassSetItem::Union(union) => {
                union.items.iter().try_for_each(|item| self.write_class_item(item))?;
            }
            ClassSetItem::Empty(_)
            | ClassSetItem::Ascii(_)
            | ClassSetItem::Unicode(_)
            | ClassSetItem::Perl(_)
            | ClassSetItem::Bracketed(_) => return self.unsupported(item.span()),
        }
        Ok(())
    }

    fn reject_nul(&self, literal: &ast::Literal) -> Result<()> {
        if literal.c == '\0' { self.unsupported(&literal.span) } else { Ok(()) }
    }
}

/// Returns the ASCII characters of a class such as `\d`.
fn perl_class_chars(class: &ClassPerl) -> &'static str {
    match class.kind {
        ClassPerlKind::Digit => "0-9",
        ClassPerlKind::Space => "\t\n\u{b}\u{c}\r ",
        ClassPerlKind::Word => "0-9A-Za-z_",
    }
}

/// Returns a character, and the same in the other case if that is a single character.
fn case_variants(c: char) -> Vec<char> {
    fn one(mut cases: impl Iterator<Item = char>) -> Option<char> {
        cases.next().filter(|_| cases.next().is_none())
    }
    let mut all = vec![c];
    for other in [one(c.to_lowercase()), one(c.to_uppercase())].into_iter().flatten() {
        if !all.contains(&other) {
            all.push(other);
        }
    }
    all
}

fn write_escaped(out: &mut String, c: char) {
    if c.is_ascii_punctuation() && c != '_' && c != '<' && c != '>' {
        out.push('\\');
    }
    out.push(c);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_translated_for_each_dialect() {
        let both = |pattern, ignore_case| {
            let write = |dialect| translate(pattern, ignore_case, dialect).map_err(|e| e.to_string());
            (write(Dialect::Sqlite).unwrap(), write(Dialect::Postgres).unwrap())
        };
        for (pattern, ignore_case, wanted) in [
            (r"^a.b$", false, ("^a(?s:.)b$", "^a.b$")),
            (r"\d{2,}[\w.-]", false, (r"[0-9]{2,}[0-9A-Za-z_\.\-]", r"[0-9]{2,}[0-9A-Za-z_\.\-]")),
            (r"\bx", false, (r"(?-u:\b)x", r"\yx")),
            ("ж1", true, ("[жЖ]1", "[жЖ]1")),
            ("[a-c]", true, ("[ABCa-c]", "[ABCa-c]")),
            (r"(a|b)+?\x41", false, ("(?:a|b)+?A", "(?:a|b)+?A")),
        ] {
            let (sqlite, postgres) = both(pattern, ignore_case);
            assert_eq!((sqlite.as_str(), postgres.as_str()), wanted, "{pattern}");
        }
    }

    #[test]
    fn an_expression_that_stores_interpret_differently_or_that_is_too_large_is_refused() {
        for bad in [
            "(", "[", "a**", "^*", "(?i)a", "(?<n>a)", r"\pL", r"\B", "[a&&b]", "[[a]b]", r"[\D]", "a{256}",
            r"\x00", "(?=a)", r"(a)\1", "***:a", r"\<a",
        ] {
            assert!(translate(bad, false, Dialect::Sqlite).is_err(), "{bad}");
        }
        for large in ["(?:(?:a{255}){255}){255}", "(?:a{200}){21}", "(?:.{100}){11}", "(?:[^a]{100}|b){6}"] {
            assert!(translate(large, false, Dialect::Postgres).is_err(), "{large}");
        }
        for fits in ["a{255}", "(?:a{200}){19}", ".{255}", "[^a]{255}", "(?:[a-z]{0,200}){0,8}x"] {
            // No expression that passes the count is too large for the compiler of a store.
            let written = translate(fits, false, Dialect::Sqlite).unwrap();
            regex::RegexBuilder::new(&written).size_limit(8 << 20).build().unwrap();
        }
    }
}
