//! `Display` of filters in the query language. The parser reads the text, as a member of a tree, as the same filter.

use std::fmt::{self, Display, Formatter, Write as _};

use super::{Filter, Is, Key, Operands, Path, Test};
use crate::rule::Comparison;

impl Display for Path {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_quoted(f, &self.column)?;
        for step in &self.steps {
            f.write_str(if step.as_text { "->>" } else { "->" })?;
            match &step.key {
                Key::Name(name) => write_quoted(f, name)?,
                Key::Index(index) => write!(f, "{index}")?,
            }
        }
        Ok(())
    }
}

/// Writes the filter as a member of an `and` or `or` list; every value is quoted.
impl Display for Filter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::And(members) => write_tree(f, "and", members),
            Self::Or(members) => write_tree(f, "or", members),
            Self::Not(inner) => match &**inner {
                Self::And(members) => write_tree(f, "not.and", members),
                Self::Or(members) => write_tree(f, "not.or", members),
                Self::Test(path, test) => write!(f, "{path}.not.{test}"),
                // The language has no `not.not`.
                Self::Not(_) => write_tree(f, "not.and", std::slice::from_ref(&**inner)),
            },
            Self::Test(path, test) => write!(f, "{path}.{test}"),
        }
    }
}

impl Display for Test {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let case = |ignore: bool| if ignore { "i" } else { "" };
        match self {
            Self::Compare(op, operands) => {
                let name = match op {
                    Comparison::Eq => "eq",
                    Comparison::Neq => "neq",
                    Comparison::Gt => "gt",
                    Comparison::Gte => "gte",
                    Comparison::Lt => "lt",
                    Comparison::Lte => "lte",
                };
                write!(f, "{name}{operands}")
            }
            Self::Like { ignore_case, patterns } => write!(f, "{}like{patterns}", case(*ignore_case)),
            Self::Match { ignore_case, patterns } => write!(f, "{}match{patterns}", case(*ignore_case)),
            Self::In(values) => {
                f.write_str("in.(")?;
                write_members(f, values)?;
                f.write_char(')')
            }
            Self::Is(is) => f.write_str(match is {
                Is::Null => "is.null",
                Is::NotNull => "is.not_null",
                Is::True => "is.true",
                Is::False => "is.false",
                Is::Unknown => "is.unknown",
            }),
            Self::IsDistinct(value) => write_prefixed(f, "isdistinct.", value),
            Self::Contains(value) => write_prefixed(f, "cs.", value),
            Self::ContainedIn(value) => write_prefixed(f, "cd.", value),
        }
    }
}

impl Display for Operands {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (name, values) = match self {
            Self::One(value) => return write_prefixed(f, ".", value),
            Self::Any(values) => ("(any).{", values),
            Self::All(values) => ("(all).{", values),
        };
        f.write_str(name)?;
        write_members(f, values)?;
        f.write_char('}')
    }
}

fn write_tree(f: &mut Formatter<'_>, name: &str, filters: &[Filter]) -> fmt::Result {
    write!(f, "{name}(")?;
    for (index, filter) in filters.iter().enumerate() {
        if index > 0 {
            f.write_char(',')?;
        }
        write!(f, "{filter}")?;
    }
    f.write_char(')')
}

fn write_members(f: &mut Formatter<'_>, values: &[String]) -> fmt::Result {
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            f.write_char(',')?;
        }
        write_quoted(f, value)?;
    }
    Ok(())
}

fn write_prefixed(f: &mut Formatter<'_>, prefix: &str, value: &str) -> fmt::Result {
    f.write_str(prefix)?;
    write_quoted(f, value)
}

fn write_quoted(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    f.write_char('"')
}
