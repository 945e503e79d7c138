//! IML, the language in Make's `{{ … }}`: references to modules, functions with arguments between semicolons, and operators.

use crate::javascript;

/// Deepest nesting of an expression.
const MAX_DEPTH: usize = 120;
/// Longest text of one expression.
const MAX_LEN: usize = 20_000;

/// Functions that need the time zone.
const DATES: &[&str] = &[
    "formatDate",
    "parseDate",
    "addDays",
    "addHours",
    "addMinutes",
    "addMonths",
    "addSeconds",
    "addYears",
    "dateDifference",
    "setDate",
    "setDay",
    "setHour",
    "setMinute",
    "setMonth",
    "setSecond",
    "setYear",
];

/// Functions of values.
const FUNCTIONS: &[&str] = &[
    "abs",
    "add",
    "ascii",
    "average",
    "base64",
    "capitalize",
    "ceil",
    "contains",
    "decodeURL",
    "deduplicate",
    "distinct",
    "encodeURL",
    "escapeHTML",
    "first",
    "flatten",
    "floor",
    "formatNumber",
    "get",
    "if",
    "ifempty",
    "indexOf",
    "join",
    "keys",
    "last",
    "length",
    "lower",
    "map",
    "max",
    "median",
    "merge",
    "min",
    "omit",
    "parseNumber",
    "pick",
    "pow",
    "remove",
    "replace",
    "reverse",
    "round",
    "slice",
    "sort",
    "split",
    "sqrt",
    "startcase",
    "stripHTML",
    "substring",
    "sum",
    "switch",
    "toArray",
    "toString",
    "trim",
    "trunc",
    "upper",
    "uuid",
    "random",
];

/// An expression that cannot be translated, with what stands in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused(pub(super) String);

/// Translates a text in which expressions stand. `step` finds the name of a module by its id.
pub(super) fn translate(text: &str, step: &dyn Fn(&str) -> Option<String>) -> Result<String, Refused> {
    if !text.contains("{{") {
        return Ok(javascript::string(text));
    }
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        if !before.is_empty() {
            parts.push((before, false));
        }
        let end = end_of(after).ok_or_else(|| Refused("{{".to_owned()))?;
        parts.push((&after[..end], true));
        rest = &after[end + 2..];
    }
    if !rest.is_empty() {
        parts.push((rest, false));
    }
    if let [(source, true)] = parts.as_slice() {
        return expression(source, step);
    }
    let mut template = String::from("`");
    for (part, is_code) in parts {
        if is_code {
            template.push_str(&format!("${{iml.text({})}}", expression(part, step)?));
        } else {
            javascript::template_text(part, &mut template);
        }
    }
    template.push('`');
    Ok(template)
}

/// Returns where the braces end that an expression is in; those in its strings do not count.
fn end_of(text: &str) -> Option<usize> {
    let mut quote = None;
    for (index, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (None, '"' | '\'' | '`') => quote = Some(character),
            (None, '}') if text[index..].starts_with("}}") => return Some(index),
            _ => {}
        }
    }
    text.find("}}")
}

/// Translates one expression.
pub(super) fn expression(source: &str, step: &dyn Fn(&str) -> Option<String>) -> Result<String, Refused> {
    if source.len() > MAX_LEN {
        return Err(Refused("…".to_owned()));
    }
    let mut parser = Parser { rest: source, depth: 0, operators: 0, step };
    let code = parser.binary(0)?;
    parser.blanks();
    if parser.rest.is_empty() { Ok(code) } else { Err(parser.refused()) }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
    /// Operators so far; each adds to the depth of the code.
    operators: usize,
    step: &'a dyn Fn(&str) -> Option<String>,
}

impl Parser<'_> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn refused(&self) -> Refused {
        Refused(self.rest.trim().chars().take(40).collect())
    }

    fn take(&mut self, token: &str) -> bool {
        self.blanks();
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn binary(&mut self, lowest: u8) -> Result<String, Refused> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Refused("(…)".to_owned()));
        }
        let mut left = self.primary()?;
        loop {
            self.blanks();
            let operators: [(&str, &str, u8); 13] = [
                ("!=", "!=", 3),
                ("<=", "<=", 4),
                (">=", ">=", 4),
                ("&&", "&&", 2),
                ("||", "||", 1),
                ("&", "&&", 2),
                ("|", "||", 1),
                ("=", "==", 3),
                ("<", "<", 4),
                (">", ">", 4),
                ("*", "*", 6),
                ("/", "/", 6),
                ("%", "%", 6),
            ];
            let signs = [("+", "+", 5), ("-", "-", 5)];
            let found = operators.iter().chain(&signs).find(|(token, ..)| self.rest.starts_with(token));
            let Some((token, operator, level)) = found.copied().filter(|(_, _, level)| *level >= lowest)
            else {
                break;
            };
            self.rest = &self.rest[token.len()..];
            self.operators += 1;
            if self.operators > 1_000 {
                return Err(Refused("…".to_owned()));
            }
            let right = self.binary(level + 1)?;
            left = match operator {
                "==" | "!=" => {
                    format!("{}iml.equal({left}, {right})", if operator == "!=" { "!" } else { "" })
                }
                "+" => format!("(Number({left}) + Number({right}))"),
                _ => format!("({left} {operator} {right})"),
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    fn primary(&mut self) -> Result<String, Refused> {
        self.blanks();
        let Some(first) = self.rest.chars().next() else { return Ok("undefined".to_owned()) };
        match first {
            '(' => {
                self.rest = &self.rest[1..];
                let inner = self.binary(0)?;
                if self.take(")") { Ok(format!("({inner})")) } else { Err(self.refused()) }
            }
            '"' | '\'' => self.text(first),
            '-' => {
                self.rest = &self.rest[1..];
                Ok(format!("-{}", self.primary()?))
            }
            '{' if self.rest.starts_with("{}") => {
                self.rest = &self.rest[2..];
                Ok("{}".to_owned())
            }
            '0'..='9' => self.number_or_reference(),
            _ if first.is_alphabetic() || first == '_' => self.word(),
            _ => Err(self.refused()),
        }
    }

    fn text(&mut self, quote: char) -> Result<String, Refused> {
        let mut value = String::new();
        let mut characters = self.rest.char_indices().skip(1);
        while let Some((index, character)) = characters.next() {
            if character == quote {
                self.rest = &self.rest[index + 1..];
                return Ok(javascript::string(&value));
            }
            if character == '\\' {
                match characters.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, 't')) => value.push('\t'),
                    Some((_, other)) => value.push(other),
                    None => break,
                }
            } else {
                value.push(character);
            }
        }
        Err(self.refused())
    }

    fn number_or_reference(&mut self) -> Result<String, Refused> {
        let end = self.rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(self.rest.len());
        let digits = &self.rest[..end];
        let after = &self.rest[end..];
        let is_fraction = after
            .strip_prefix('.')
            .is_some_and(|after| after.starts_with(|character: char| character.is_ascii_digit()));
        if after.starts_with('.') && !is_fraction {
            let Some(name) = (self.step)(digits) else { return Err(Refused(format!("{digits}."))) };
            self.rest = after;
            let path = self.path()?;
            return Ok(format!(
                "iml.read(flow.item({}, item).json, [{}])",
                javascript::string(&name),
                path.join(", ")
            ));
        }
        let mut number = digits.trim_start_matches('0').to_owned();
        if number.is_empty() {
            number.push('0');
        }
        self.rest = after;
        if is_fraction {
            let fraction = &after[1..];
            let end = fraction.find(|character: char| !character.is_ascii_digit()).unwrap_or(fraction.len());
            number.push('.');
            number.push_str(&fraction[..end]);
            self.rest = &fraction[end..];
        }
        if number.len() > 40 { Err(Refused(number)) } else { Ok(number) }
    }

    /// Reads `.name`, `` .`any name` `` and `[index]`, as often as they follow.
    fn path(&mut self) -> Result<Vec<String>, Refused> {
        let mut path = Vec::new();
        loop {
            if path.len() > 60 {
                return Err(self.refused());
            }
            if let Some(rest) = self.rest.strip_prefix('.') {
                let (name, after) = if let Some(quoted) = rest.strip_prefix('`') {
                    quoted.split_once('`').ok_or_else(|| self.refused())?
                } else {
                    let end = rest
                        .find(|character: char| {
                            !(character.is_alphanumeric()
                                || matches!(character, '_' | '-' | '$' | ' ' | ':' | '@'))
                        })
                        .unwrap_or(rest.len());
                    // A name may have blanks inside; those at the end, and an operator after one, are not its own.
                    let name = rest[..end].split(" -").next().unwrap_or_default().trim_end();
                    (name, &rest[name.len()..])
                };
                if name.is_empty() {
                    return Err(self.refused());
                }
                path.push(javascript::string(name));
                self.rest = after;
            } else if let Some(rest) = self.rest.strip_prefix('[') {
                let (index, after) = rest.split_once(']').ok_or_else(|| self.refused())?;
                // Items count from 1; without a number, it is the first.
                let number = if index.trim().is_empty() {
                    1
                } else {
                    index.trim().parse::<usize>().map_err(|_| self.refused())?
                };
                path.push(number.saturating_sub(1).to_string());
                self.rest = after;
            } else {
                return Ok(path);
            }
        }
    }

    fn word(&mut self) -> Result<String, Refused> {
        let end = self
            .rest
            .find(|character: char| !(character.is_alphanumeric() || character == '_'))
            .unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        self.rest = &self.rest[end..];
        if self.take("(") {
            let mut arguments = Vec::new();
            loop {
                if self.take(")") {
                    break;
                }
                arguments.push(self.binary(0)?);
                if !self.take(";") {
                    if self.take(")") {
                        break;
                    }
                    return Err(self.refused());
                }
            }
            return call(word, &arguments);
        }
        Ok(match word {
            "true" | "false" | "null" => word.to_owned(),
            "now" => "flow.dates.now()".to_owned(),
            "timestamp" => "Math.floor(Date.now() / 1000)".to_owned(),
            "emptystring" => "''".to_owned(),
            "newline" => "'\\n'".to_owned(),
            "carriagereturn" => "'\\r'".to_owned(),
            "space" => "' '".to_owned(),
            "nbsp" => "'\\u00a0'".to_owned(),
            "tab" => "'\\t'".to_owned(),
            "emptyarray" => "[]".to_owned(),
            "pi" => "Math.PI".to_owned(),
            "random" => "Math.random()".to_owned(),
            "uuid" => "crypto.randomUUID()".to_owned(),
            "erase" | "ignore" => "undefined".to_owned(),
            "executionId" => "flow.runId".to_owned(),
            other => return Err(Refused(other.to_owned())),
        })
    }
}

fn call(name: &str, arguments: &[String]) -> Result<String, Refused> {
    let list = arguments.join(", ");
    if DATES.contains(&name) {
        return Ok(format!("iml.{name}(flow.dates, {list})"));
    }
    if FUNCTIONS.contains(&name) {
        return Ok(format!("iml.{name}({list})"));
    }
    Err(Refused(format!("{name}()")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Result<String, String> {
        translate(text, &|id| (id == "1").then(|| "Hook".to_owned())).map_err(|refused| refused.0)
    }

    #[test]
    fn references_functions_and_operators_are_translated() {
        let read = |path: &str| format!("iml.read(flow.item('Hook', item).json, [{path}])");
        assert_eq!(code("{{1.items[2].name}}"), Ok(read("'items', 1, 'name'")));
        assert_eq!(code("{{1.`First name`}}"), Ok(read("'First name'")));
        assert_eq!(code("Hi {{1.a}}!"), Ok(format!("`Hi ${{iml.text({})}}!`", read("'a'"))));
        assert_eq!(
            code(r#"{{if(1.a > 2; "x;y"; emptystring)}}"#),
            Ok(format!("iml.if(({} > 2), 'x;y', '')", read("'a'")))
        );
        assert_eq!(
            code("{{1.a + 1.b * 2}}"),
            Ok(format!("(Number({}) + Number(({} * 2)))", read("'a'"), read("'b'")))
        );
        assert_eq!(code("plain"), Ok("'plain'".to_owned()));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        assert_eq!(code("{{2.a}}"), Err("2.".to_owned()));
        assert_eq!(code("{{evil(1.a)}}"), Err("evil()".to_owned()));
        assert_eq!(code("{{globalThis}}"), Err("globalThis".to_owned()));
        assert!(code(&format!("{{{{{}1{}}}}}", "(".repeat(100), ")".repeat(100))).is_ok());
        assert!(code(&format!("{{{{{}1{}}}}}", "(".repeat(10_000), ")".repeat(10_000))).is_err());
        assert!(code(&format!("{{{{1{}}}}}", "+1".repeat(9_000))).is_err());
    }
}
