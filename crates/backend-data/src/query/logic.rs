//! Reading tests, lists and `and`/`or` trees.

use super::{
    Filter, Is, MAX_DEPTH, MAX_LIST, MAX_OPERANDS, MAX_PATTERNS, MAX_TESTS, Operands, Path, Test, parse,
    scan::Scan,
};
use crate::{
    error::{Error, Quoted, Result},
    rule::Comparison,
};

/// How many tests a query holds so far.
#[derive(Default)]
pub(super) struct Budget {
    tests: usize,
    operands: usize,
    patterns: usize,
}

impl Budget {
    fn spend(&mut self) -> Result<()> {
        self.tests += 1;
        if self.tests > MAX_TESTS {
            return Err(Error::invalid(format!("a query has at most {MAX_TESTS} filters")));
        }
        Ok(())
    }

    /// Counts what a test compares to.
    fn spend_on(&mut self, test: &Test) -> Result<()> {
        let (operands, is_pattern) = match test {
            Test::Compare(_, operands) | Test::Like { patterns: operands, .. } => (operands, false),
            Test::Match { patterns, .. } => (patterns, true),
            _ => return Ok(()),
        };
        let count = match operands {
            Operands::One(_) => 1,
            Operands::Any(values) | Operands::All(values) => {
                self.operands += values.len();
                values.len()
            }
        };
        if self.operands > MAX_OPERANDS {
            let message = format!("a query has at most {MAX_OPERANDS} values in `(any)` and `(all)`");
            return Err(Error::invalid(message).with_hint("Equal values are found by `in.(…)`."));
        }
        self.patterns += if is_pattern { count } else { 0 };
        if self.patterns > MAX_PATTERNS {
            return Err(Error::invalid(format!("a query has at most {MAX_PATTERNS} regular expressions")));
        }
        Ok(())
    }
}

/// Where a value ends: at the end of the text, or where its list does.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Top,
    Tree,
}

/// `path=not.op.value`, the value raw to its end.
pub(super) fn top(path: Path, value: &str, budget: &mut Budget) -> Result<Filter> {
    let mut scan = Scan::new(value);
    let filter = test(path, &mut scan, Place::Top, budget)?;
    if scan.is_empty() { Ok(filter) } else { Err(scan.unexpected("the end of the value")) }
}

/// `or=(…)`, `not.and=(…)`.
pub(super) fn tree(key: &str, value: &str, budget: &mut Budget) -> Result<Filter> {
    if !value.trim_start_matches(' ').starts_with('(') {
        return Err(Scan::new(value).unexpected("`(` and a list of filters"));
    }
    let text = format!("{key}{value}");
    let mut scan = Scan::new(&text);
    let filter = node(&mut scan, 0, budget)?;
    scan.blanks();
    if scan.is_empty() { Ok(filter) } else { Err(scan.unexpected("the end of the tree")) }
}

fn node(scan: &mut Scan<'_>, depth: usize, budget: &mut Budget) -> Result<Filter> {
    if depth > MAX_DEPTH {
        return Err(Error::invalid(format!("`and` and `or` nest at most {MAX_DEPTH} deep")));
    }
    scan.blanks();
    // A column may begin with `and`, `or` or `not`: only the parenthesis tells.
    for (token, negated, all) in
        [("and", false, true), ("or", false, false), ("not.and", true, true), ("not.or", true, false)]
    {
        let mut ahead = *scan;
        if !ahead.eat(token) {
            continue;
        }
        ahead.blanks();
        if !ahead.eat("(") {
            continue;
        }
        *scan = ahead;
        let members = members(scan, depth, budget)?;
        let filter = if all { Filter::And(members) } else { Filter::Or(members) };
        return Ok(if negated { Filter::Not(Box::new(filter)) } else { filter });
    }
    let path = parse::path(scan)?;
    if !scan.eat(".") {
        return Err(scan.unexpected("`.` and an operator"));
    }
    test(path, scan, Place::Tree, budget)
}

fn members(scan: &mut Scan<'_>, depth: usize, budget: &mut Budget) -> Result<Vec<Filter>> {
    let mut members = Vec::new();
    loop {
        members.push(node(scan, depth + 1, budget)?);
        scan.blanks();
        if scan.eat(")") {
            return Ok(members);
        }
        if !scan.eat(",") {
            return Err(scan.unexpected("`,` or `)`"));
        }
    }
}

fn test(path: Path, scan: &mut Scan<'_>, place: Place, budget: &mut Budget) -> Result<Filter> {
    budget.spend()?;
    let negated = scan.eat("not.");
    let operator = scan.until(|c| matches!(c, '.' | '(' | ',' | ')'));
    let quantifier = match (scan.eat("(any)"), scan.eat("(all)")) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    if !scan.eat(".") {
        return Err(Error::invalid(format!(
            "expected an operator and a value, such as `eq.1`, not {}",
            Quoted(&format!("{operator}{}", scan.rest()))
        )));
    }
    let operands = |scan: &mut Scan<'_>| -> Result<Operands> {
        match quantifier {
            None => Ok(Operands::One(value(scan, place))),
            Some(any) => {
                let values = array(scan)?;
                Ok(if any { Operands::Any(values) } else { Operands::All(values) })
            }
        }
    };
    let compare = |scan: &mut Scan<'_>, op| Ok::<_, Error>(Test::Compare(op, operands(scan)?));
    let test = match operator {
        "eq" => compare(scan, Comparison::Eq)?,
        "gt" => compare(scan, Comparison::Gt)?,
        "gte" => compare(scan, Comparison::Gte)?,
        "lt" => compare(scan, Comparison::Lt)?,
        "lte" => compare(scan, Comparison::Lte)?,
        "like" | "ilike" => {
            let star = |text: String| text.replace('*', "%");
            let patterns = match operands(scan)? {
                Operands::One(one) => Operands::One(star(one)),
                Operands::Any(many) => Operands::Any(many.into_iter().map(star).collect()),
                Operands::All(many) => Operands::All(many.into_iter().map(star).collect()),
            };
            Test::Like { ignore_case: operator == "ilike", patterns }
        }
        "match" | "imatch" => Test::Match { ignore_case: operator == "imatch", patterns: operands(scan)? },
        _ if quantifier.is_some() => {
            let message = format!("operator {} takes no (any) or (all)", Quoted(operator));
            return Err(Error::invalid(message));
        }
        "neq" => compare(scan, Comparison::Neq)?,
        "in" => Test::In(list(scan)?),
        "is" => Test::Is(is(&value(scan, place))?),
        "isdistinct" => Test::IsDistinct(value(scan, place)),
        "cs" => Test::Contains(value(scan, place)),
        "cd" => Test::ContainedIn(value(scan, place)),
        "fts" | "plfts" | "phfts" | "wfts" | "ov" | "sl" | "sr" | "nxr" | "nxl" | "adj" => {
            return Err(Error::unsupported(format!("operator {}", Quoted(operator))));
        }
        other => return Err(Error::invalid(format!("there is no operator {}", Quoted(other)))),
    };
    budget.spend_on(&test)?;
    let filter = Filter::Test(path, test);
    Ok(if negated { Filter::Not(Box::new(filter)) } else { filter })
}

fn value(scan: &mut Scan<'_>, place: Place) -> String {
    if place == Place::Top {
        return scan.until(|_| false).to_owned();
    }
    member(scan)
}

/// A value inside a list: quoted if the quotes hold all of it, else literal to the next `,` or `)`.
fn member(scan: &mut Scan<'_>) -> String {
    let mut ahead = *scan;
    if let Some(text) = ahead.quoted()
        && matches!(ahead.peek(), None | Some(',' | ')'))
    {
        *scan = ahead;
        return text;
    }
    scan.until(|c| matches!(c, ',' | ')')).to_owned()
}

/// `(a,"b,c",d)`; nothing but blanks between the parentheses is the empty list.
fn list(scan: &mut Scan<'_>) -> Result<Vec<String>> {
    if !scan.eat("(") {
        return Err(scan.unexpected("`(` and a list"));
    }
    let mut ahead = *scan;
    ahead.blanks();
    if ahead.eat(")") {
        *scan = ahead;
        return Ok(Vec::new());
    }
    separated(scan, ")", member)
}

/// `{a,"b,c",d}`
fn array(scan: &mut Scan<'_>) -> Result<Vec<String>> {
    if !scan.eat("{") {
        return Err(scan.unexpected("`{` and a list"));
    }
    if scan.eat("}") {
        return Ok(Vec::new());
    }
    separated(scan, "}", |scan| {
        scan.quoted().unwrap_or_else(|| scan.until(|c| matches!(c, ',' | '}')).trim_matches(' ').to_owned())
    })
}

fn separated(
    scan: &mut Scan<'_>,
    close: &str,
    member: impl Fn(&mut Scan<'_>) -> String,
) -> Result<Vec<String>> {
    let mut values = Vec::new();
    loop {
        values.push(member(scan));
        if values.len() > MAX_LIST {
            return Err(Error::invalid(format!("a list has at most {MAX_LIST} values")));
        }
        if scan.eat(close) {
            return Ok(values);
        }
        if !scan.eat(",") {
            return Err(scan.unexpected(&format!("`,` or `{close}`")));
        }
    }
}

fn is(text: &str) -> Result<Is> {
    match text.to_ascii_lowercase().as_str() {
        "null" => Ok(Is::Null),
        "not_null" => Ok(Is::NotNull),
        "true" => Ok(Is::True),
        "false" => Ok(Is::False),
        "unknown" => Ok(Is::Unknown),
        _ => {
            let message = format!("`is` takes null, not_null, true, false or unknown, not {}", Quoted(text));
            Err(Error::invalid(message))
        }
    }
}
