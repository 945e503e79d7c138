//! Parser of tests, lists and `and`/`or` trees.

use super::{
    Filter, Is, MAX_DEPTH, MAX_LIST, MAX_OPERANDS, MAX_PATTERNS, MAX_TESTS, Operands, Path, Test, path,
    scanner::Scanner,
};
use crate::{
    error::{Error, Quoted, Result},
    rule::Comparison,
};

/// The tests, operands and patterns of a query so far, each of which has a maximum.
#[derive(Default)]
pub(super) struct QueryBudget {
    tests: usize,
    operands: usize,
    patterns: usize,
}

impl QueryBudget {
    fn count_test(&mut self) -> Result<()> {
        self.tests += 1;
        if self.tests > MAX_TESTS {
            return Err(Error::invalid_request(format!("a query has at most {MAX_TESTS} filters")));
        }
        Ok(())
    }

    /// Counts the values that a test compares to.
    fn count_operands(&mut self, test: &Test) -> Result<()> {
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
            return Err(
                Error::invalid_request(message).with_hint("To match any of many values, use `in.(…)`.")
            );
        }
        self.patterns += if is_pattern { count } else { 0 };
        if self.patterns > MAX_PATTERNS {
            return Err(Error::invalid_request(format!(
                "a query has at most {MAX_PATTERNS} regular expressions"
            )));
        }
        Ok(())
    }
}

/// The context of a value, which decides where it ends: with the text, or at the next `,` or `)`.
#[derive(Clone, Copy, PartialEq)]
enum ValueContext {
    TopLevel,
    Nested,
}

/// Parses the test of `path=not.op.value`. The value reaches to the end and has no quotes.
pub(super) fn parse_parameter(path: Path, value: &str, budget: &mut QueryBudget) -> Result<Filter> {
    let mut scan = Scanner::new(value);
    let filter = parse_test(path, &mut scan, ValueContext::TopLevel, budget)?;
    if scan.is_empty() { Ok(filter) } else { Err(scan.unexpected("the end of the value")) }
}

/// Parses `or=(…)`, `not.and=(…)` and their like.
pub(super) fn parse_tree(key: &str, value: &str, budget: &mut QueryBudget) -> Result<Filter> {
    if !value.trim_start_matches(' ').starts_with('(') {
        return Err(Scanner::new(value).unexpected("`(` and a list of filters"));
    }
    let text = format!("{key}{value}");
    let mut scan = Scanner::new(&text);
    let filter = parse_node(&mut scan, 0, budget)?;
    scan.skip_blanks();
    if scan.is_empty() { Ok(filter) } else { Err(scan.unexpected("the end of the tree")) }
}

fn parse_node(scan: &mut Scanner<'_>, depth: usize, budget: &mut QueryBudget) -> Result<Filter> {
    if depth > MAX_DEPTH {
        return Err(Error::invalid_request(format!("`and` and `or` nest at most {MAX_DEPTH} deep")));
    }
    scan.skip_blanks();
    // A column may be named `and` or `order_no`: only the parenthesis after the word makes it a tree.
    for (token, negated, all) in
        [("and", false, true), ("or", false, false), ("not.and", true, true), ("not.or", true, false)]
    {
        let mut ahead = *scan;
        if !ahead.eat(token) {
            continue;
        }
        ahead.skip_blanks();
        if !ahead.eat("(") {
            continue;
        }
        *scan = ahead;
        let members = parse_members(scan, depth, budget)?;
        let filter = if all { Filter::And(members) } else { Filter::Or(members) };
        return Ok(if negated { Filter::Not(Box::new(filter)) } else { filter });
    }
    let path = path::parse_path(scan)?;
    if !scan.eat(".") {
        return Err(scan.unexpected("`.` and an operator"));
    }
    parse_test(path, scan, ValueContext::Nested, budget)
}

fn parse_members(scan: &mut Scanner<'_>, depth: usize, budget: &mut QueryBudget) -> Result<Vec<Filter>> {
    let mut members = Vec::new();
    loop {
        members.push(parse_node(scan, depth + 1, budget)?);
        scan.skip_blanks();
        if scan.eat(")") {
            return Ok(members);
        }
        if !scan.eat(",") {
            return Err(scan.unexpected("`,` or `)`"));
        }
    }
}

fn parse_test(
    path: Path,
    scan: &mut Scanner<'_>,
    context: ValueContext,
    budget: &mut QueryBudget,
) -> Result<Filter> {
    budget.count_test()?;
    let negated = scan.eat("not.");
    let operator = scan.take_until(|c| matches!(c, '.' | '(' | ',' | ')'));
    let quantifier = match (scan.eat("(any)"), scan.eat("(all)")) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    if !scan.eat(".") {
        return Err(Error::invalid_request(format!(
            "expected an operator and a value, such as `eq.1`, not {}",
            Quoted(&format!("{operator}{}", scan.rest()))
        )));
    }
    let operands = |scan: &mut Scanner<'_>| -> Result<Operands> {
        match quantifier {
            None => Ok(Operands::One(parse_value(scan, context))),
            Some(any) => {
                let values = parse_array(scan)?;
                Ok(if any { Operands::Any(values) } else { Operands::All(values) })
            }
        }
    };
    let compare = |scan: &mut Scanner<'_>, op| Ok::<_, Error>(Test::Compare(op, operands(scan)?));
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
            return Err(Error::invalid_request(message));
        }
        "neq" => compare(scan, Comparison::Neq)?,
        "in" => Test::In(parse_list(scan)?),
        "is" => Test::Is(parse_is(&parse_value(scan, context))?),
        "isdistinct" => Test::IsDistinct(parse_value(scan, context)),
        "cs" => Test::Contains(parse_value(scan, context)),
        "cd" => Test::ContainedIn(parse_value(scan, context)),
        "fts" | "plfts" | "phfts" | "wfts" | "ov" | "sl" | "sr" | "nxr" | "nxl" | "adj" => {
            return Err(Error::unsupported(format!("operator {}", Quoted(operator))));
        }
        other => return Err(Error::invalid_request(format!("there is no operator {}", Quoted(other)))),
    };
    budget.count_operands(&test)?;
    let filter = Filter::Test(path, test);
    Ok(if negated { Filter::Not(Box::new(filter)) } else { filter })
}

fn parse_value(scan: &mut Scanner<'_>, context: ValueContext) -> String {
    if context == ValueContext::TopLevel {
        return scan.take_until(|_| false).to_owned();
    }
    parse_list_item(scan)
}

/// Parses a value inside a list: quoted if the quotes enclose all of it, otherwise literal to the next `,` or `)`.
fn parse_list_item(scan: &mut Scanner<'_>) -> String {
    let mut ahead = *scan;
    if let Some(text) = ahead.take_quoted()
        && matches!(ahead.peek(), None | Some(',' | ')'))
    {
        *scan = ahead;
        return text;
    }
    scan.take_until(|c| matches!(c, ',' | ')')).to_owned()
}

/// Parses `(a,"b,c",d)`. Only blanks between the parentheses make an empty list.
fn parse_list(scan: &mut Scanner<'_>) -> Result<Vec<String>> {
    if !scan.eat("(") {
        return Err(scan.unexpected("`(` and a list"));
    }
    let mut ahead = *scan;
    ahead.skip_blanks();
    if ahead.eat(")") {
        *scan = ahead;
        return Ok(Vec::new());
    }
    parse_separated(scan, ")", parse_list_item)
}

/// Parses `{a,"b,c",d}`.
fn parse_array(scan: &mut Scanner<'_>) -> Result<Vec<String>> {
    if !scan.eat("{") {
        return Err(scan.unexpected("`{` and a list"));
    }
    if scan.eat("}") {
        return Ok(Vec::new());
    }
    parse_separated(scan, "}", |scan| {
        scan.take_quoted()
            .unwrap_or_else(|| scan.take_until(|c| matches!(c, ',' | '}')).trim_matches(' ').to_owned())
    })
}

fn parse_separated(
    scan: &mut Scanner<'_>,
    close: &str,
    member: impl Fn(&mut Scanner<'_>) -> String,
) -> Result<Vec<String>> {
    let mut values = Vec::new();
    loop {
        values.push(member(scan));
        if values.len() > MAX_LIST {
            return Err(Error::invalid_request(format!("a list has at most {MAX_LIST} values")));
        }
        if scan.eat(close) {
            return Ok(values);
        }
        if !scan.eat(",") {
            return Err(scan.unexpected(&format!("`,` or `{close}`")));
        }
    }
}

fn parse_is(text: &str) -> Result<Is> {
    match text.to_ascii_lowercase().as_str() {
        "null" => Ok(Is::Null),
        "not_null" => Ok(Is::NotNull),
        "true" => Ok(Is::True),
        "false" => Ok(Is::False),
        "unknown" => Ok(Is::Unknown),
        _ => {
            let message = format!("`is` takes null, not_null, true, false or unknown, not {}", Quoted(text));
            Err(Error::invalid_request(message))
        }
    }
}
