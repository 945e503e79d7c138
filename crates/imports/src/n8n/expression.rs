//! n8n's expressions, `={{ … }}`, as JavaScript.
//!
//! A parser by operator precedence reads them and writes the code of the app at the same time. It knows the names that n8n gives to
//! expressions and the methods of the language; anything else is refused, so that nothing is guessed. A value that is missing is
//! `undefined`, as in n8n, where an expression that fails so gives nothing: every access but the first is optional.

use crate::javascript;

use super::{
    lexer::{TemplatePart, Token, tokens},
    methods::{self, Method},
};

/// Deepest nesting of an expression.
const MAX_DEPTH: usize = 120;
/// Most tokens of an expression.
const MAX_TOKENS: usize = 4_000;

/// An expression that cannot be translated, with what stands in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused(pub(super) String);

/// What an expression may refer to.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    /// Finds the name of a step by the name that the expression uses.
    pub(super) step: &'a dyn Fn(&str) -> bool,
}

/// Translates the text of a parameter that begins with `=`, without the `=`.
pub(super) fn translate(text: &str, scope: Scope<'_>) -> Result<String, Refused> {
    let parts = split(text)?;
    if let [Part::Source(source)] = parts.as_slice() {
        return expression(source, scope, 0);
    }
    let mut template = String::from("`");
    for part in &parts {
        match part {
            Part::Text(text) => javascript::template_text(text, &mut template),
            Part::Source(source) => {
                template.push_str("${text(");
                template.push_str(&expression(source, scope, 0)?);
                template.push_str(")}");
            }
        }
    }
    if parts.iter().all(|part| matches!(part, Part::Text(_))) {
        let text: String =
            parts.iter().map(|part| if let Part::Text(text) = part { *text } else { "" }).collect();
        return Ok(javascript::string(&text));
    }
    template.push('`');
    Ok(template)
}

enum Part<'a> {
    Text(&'a str),
    Source(&'a str),
}

/// Splits text at `{{ … }}`. Braces in strings of the code do not end it.
fn split(text: &str) -> Result<Vec<Part<'_>>, Refused> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find("{{") {
        if begin > 0 {
            parts.push(Part::Text(&rest[..begin]));
        }
        let inner = &rest[begin + 2..];
        let end = end_of_code(inner).ok_or_else(|| Refused("{{".to_owned()))?;
        parts.push(Part::Source(&inner[..end]));
        rest = &inner[end + 2..];
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    Ok(parts)
}

fn end_of_code(inner: &str) -> Option<usize> {
    let bytes = inner.as_bytes();
    let (mut index, mut open) = (0, 0usize);
    let mut quote = None;
    while let Some(&byte) = bytes.get(index) {
        match (quote, byte) {
            (Some(_), b'\\') => index += 1,
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"' | b'`') => quote = Some(byte),
            (None, b'{') => open += 1,
            (None, b'}') if open > 0 => open -= 1,
            (None, b'}') if bytes.get(index + 1) == Some(&b'}') => return Some(index),
            (None, _) => {}
        }
        index += 1;
    }
    // An apostrophe in a comment or a pattern: n8n itself ends at the first braces.
    inner.find("}}")
}

/// Translates one expression.
pub(super) fn expression(source: &str, scope: Scope<'_>, depth: usize) -> Result<String, Refused> {
    let refused = || Refused(source.trim().to_owned());
    let tokens = tokens(source).ok_or_else(refused)?;
    if tokens.is_empty() {
        return Ok("undefined".to_owned());
    }
    if tokens.len() > MAX_TOKENS {
        return Err(Refused("…".to_owned()));
    }
    let mut parser = Parser { tokens: &tokens, at: 0, depth, scope, parameters: Vec::new() };
    let code = parser.assignment()?;
    // A semicolon at the end is common.
    while parser.take(";") {}
    if parser.at < tokens.len() { Err(refused()) } else { Ok(code.into_value()) }
}

/// What a piece of code gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Anything.
    Value,
    /// The members of an item, which are always there.
    Json,
    /// An item, or what stands for one that is missing.
    Item,
    /// A list of items.
    Items,
    /// `$('Step')`: a step.
    Step,
    /// `$input`.
    Input,
    /// A date with a time zone.
    Date,
    /// A name of the language with members, such as `Math`.
    Global,
    /// `$node`.
    Nodes,
    /// `$workflow`, `$execution`: objects with fixed members.
    Fixed,
}

#[derive(Debug, Clone)]
struct Code {
    text: String,
    kind: Kind,
    /// Precedence of the outermost operator; 20 for what needs no parentheses.
    level: u8,
}

impl Code {
    fn value(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: Kind::Value, level: 20 }
    }

    fn of(text: impl Into<String>, kind: Kind) -> Self {
        Self { text: text.into(), kind, level: 20 }
    }

    /// Returns the text as a value of its own.
    fn into_value(self) -> String {
        self.text
    }

    /// Returns the text in parentheses if it binds weaker than `level`.
    fn at(self, level: u8) -> String {
        if self.level < level { format!("({})", self.text) } else { self.text }
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    scope: Scope<'a>,
    /// Parameters and constants of the arrow functions around, with their names in the code.
    parameters: Vec<(String, String)>,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn is(&self, punctuator: &str) -> bool {
        matches!(self.peek(), Some(Token::Punctuator(found)) if *found == punctuator)
    }

    fn take(&mut self, punctuator: &str) -> bool {
        let is_there = self.is(punctuator);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, punctuator: &str) -> Result<(), Refused> {
        if self.take(punctuator) { Ok(()) } else { Err(self.refused()) }
    }

    fn refused(&self) -> Refused {
        Refused(match self.peek() {
            Some(Token::Name(name)) => name.clone(),
            Some(Token::Punctuator(punctuator)) => (*punctuator).to_owned(),
            Some(Token::Number(number)) => number.clone(),
            Some(Token::Text(_) | Token::Template(_) | Token::Pattern(..)) => "'…'".to_owned(),
            None => "…".to_owned(),
        })
    }

    /// Runs a rule one level deeper.
    fn deeper<T>(&mut self, rule: impl FnOnce(&mut Self) -> Result<T, Refused>) -> Result<T, Refused> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Refused("(…)".to_owned()));
        }
        let result = rule(self);
        self.depth -= 1;
        result
    }

    fn assignment(&mut self) -> Result<Code, Refused> {
        self.deeper(|parser| match parser.arrow_parameters() {
            Some((parameters, after)) => {
                parser.at = after;
                parser.arrow(parameters)
            }
            None => parser.condition(),
        })
    }

    /// Returns the parameters if an arrow function begins here, and where its body begins.
    fn arrow_parameters(&self) -> Option<(Vec<String>, usize)> {
        let name = |index: usize| match self.tokens.get(index) {
            Some(Token::Name(name)) if javascript::is_name(name) && !name.starts_with('$') => {
                Some(name.clone())
            }
            _ => None,
        };
        let is = |index: usize, wanted: &str| matches!(self.tokens.get(index), Some(Token::Punctuator(found)) if *found == wanted);
        if let Some(only) = name(self.at)
            && is(self.at + 1, "=>")
        {
            return Some((vec![only], self.at + 2));
        }
        if !self.is("(") {
            return None;
        }
        let mut parameters = Vec::new();
        let mut index = self.at + 1;
        while let Some(parameter) = name(index) {
            parameters.push(parameter);
            index += 1;
            if !is(index, ",") {
                break;
            }
            index += 1;
        }
        (is(index, ")") && is(index + 1, "=>")).then_some((parameters, index + 2))
    }

    fn arrow(&mut self, parameters: Vec<String>) -> Result<Code, Refused> {
        let before = self.parameters.len();
        let names = parameters.iter().map(|name| local_name(name)).collect::<Result<Vec<_>, _>>()?;
        let list = names.join(", ");
        self.parameters.extend(parameters.into_iter().zip(names));
        let body = if self.take("{") {
            self.block()?
        } else {
            let body = self.assignment()?.into_value();
            if body.starts_with('{') { format!("({body})") } else { body }
        };
        self.parameters.truncate(before);
        Ok(Code { text: format!("({list}) => {body}"), kind: Kind::Value, level: 2 })
    }

    /// Reads the body of an arrow function: declarations and a `return`.
    fn block(&mut self) -> Result<String, Refused> {
        let mut lines = String::from("{ ");
        loop {
            match self.peek() {
                Some(Token::Name(word)) if word == "const" || word == "let" => {
                    self.at += 1;
                    let Some(Token::Name(name)) = self.peek().cloned() else { return Err(self.refused()) };
                    let local = local_name(&name)?;
                    self.at += 1;
                    self.expect("=")?;
                    let value = self.assignment()?.into_value();
                    self.take(";");
                    lines.push_str(&format!("const {local} = {value}; "));
                    self.parameters.push((name, local));
                }
                Some(Token::Name(word)) if word == "return" => {
                    self.at += 1;
                    let value = self.assignment()?.into_value();
                    self.take(";");
                    self.expect("}")?;
                    lines.push_str(&format!("return {value}; }}"));
                    return Ok(lines);
                }
                _ => return Err(self.refused()),
            }
        }
    }

    fn condition(&mut self) -> Result<Code, Refused> {
        let test = self.binary(3)?;
        if !self.take("?") {
            return Ok(test);
        }
        let yes = self.assignment()?.at(3);
        self.expect(":")?;
        let no = self.assignment()?.at(2);
        Ok(Code { text: format!("{} ? {yes} : {no}", test.at(4)), kind: Kind::Value, level: 2 })
    }

    fn binary(&mut self, lowest: u8) -> Result<Code, Refused> {
        let mut left = self.unary()?;
        loop {
            let operator = match self.peek() {
                Some(Token::Punctuator(operator)) => *operator,
                Some(Token::Name(name)) if name == "in" => "in",
                Some(Token::Name(name)) if name == "instanceof" => "instanceof",
                _ => return Ok(left),
            };
            let Some(level) = level_of(operator).filter(|level| *level >= lowest) else { return Ok(left) };
            self.at += 1;
            // `**` binds to the right.
            let right = self.deeper(|parser| parser.binary(if level == 13 { 13 } else { level + 1 }))?;
            // `??` and the logical operators need parentheses among each other, and so does what is before `**`.
            let mixes = |code: &Code| {
                operator == "??" && code.level <= 5 || matches!(operator, "&&" | "||") && code.level == 3
            };
            let (mixes_left, mixes_right) = (mixes(&left), mixes(&right));
            let of = |code: Code, mixes: bool, least: u8| {
                if mixes { format!("({})", code.text) } else { code.at(least) }
            };
            let left_least = if level == 13 { 20 } else { level };
            let (before, after) = (
                of(left, mixes_left, left_least),
                of(right, mixes_right, if level == 13 { 13 } else { level + 1 }),
            );
            let level = if operator == "??" { 3 } else { level };
            left = Code { text: format!("{before} {operator} {after}"), kind: Kind::Value, level };
        }
    }

    fn unary(&mut self) -> Result<Code, Refused> {
        for operator in ["!", "-", "+", "~"] {
            if self.take(operator) {
                let value = self.deeper(Self::unary)?.at(14);
                // `- -x` must not become `--x`.
                let gap = if value.starts_with(operator) { " " } else { "" };
                return Ok(Code { text: format!("{operator}{gap}{value}"), kind: Kind::Value, level: 14 });
            }
        }
        if matches!(self.peek(), Some(Token::Name(name)) if name == "typeof") {
            self.at += 1;
            let value = self.deeper(Self::unary)?.at(14);
            return Ok(Code { text: format!("typeof {value}"), kind: Kind::Value, level: 14 });
        }
        self.postfix()
    }

    fn postfix(&mut self) -> Result<Code, Refused> {
        let mut value = self.primary()?;
        loop {
            if self.take(".") {
                value = self.member_after(value)?;
            } else if self.take("?.") {
                value = if self.take("[") {
                    self.index_of(value)?
                } else if self.is("(") {
                    return Err(self.refused());
                } else {
                    self.member_after(value)?
                };
            } else if self.take("[") {
                value = self.index_of(value)?;
            } else if self.is("(") {
                // Only methods and known functions are called, which `member_after` and `primary` read.
                return Err(self.refused());
            } else {
                return Ok(value);
            }
        }
    }

    fn arguments(&mut self) -> Result<Vec<String>, Refused> {
        self.expect("(")?;
        let mut values = Vec::new();
        while !self.take(")") {
            let spread = if self.take("...") { "..." } else { "" };
            values.push(format!("{spread}{}", self.assignment()?.at(2)));
            if !self.take(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(values)
    }

    fn member_after(&mut self, value: Code) -> Result<Code, Refused> {
        let Some(Token::Name(name)) = self.peek().cloned() else { return Err(self.refused()) };
        self.at += 1;
        if self.is("(") { self.call(value, &name) } else { member(value, &name) }
    }

    fn index_of(&mut self, value: Code) -> Result<Code, Refused> {
        if let (Some(Token::Text(name)), Some(Token::Punctuator("]"))) =
            (self.tokens.get(self.at), self.tokens.get(self.at + 1))
        {
            let name = name.clone();
            self.at += 2;
            return if self.is("(") { self.call(value, &name) } else { member(value, &name) };
        }
        let index = self.assignment()?.into_value();
        self.expect("]")?;
        match value.kind {
            Kind::Value => Ok(Code::value(format!("{}?.[{index}]", value.at(20)))),
            Kind::Json => Ok(Code::value(format!("{}[{index}]", value.text))),
            Kind::Items => Ok(Code::of(format!("itemAt({}, {index})", value.text), Kind::Item)),
            _ => Err(self.refused()),
        }
    }

    fn call(&mut self, value: Code, name: &str) -> Result<Code, Refused> {
        let refused = || Refused(format!(".{name}()"));
        let arguments = self.arguments()?;
        let list = arguments.join(", ");
        match value.kind {
            Kind::Step | Kind::Input => {
                let step = value.text;
                let items =
                    if value.kind == Kind::Input { "items".to_owned() } else { format!("flow.all({step})") };
                match (name, arguments.len()) {
                    ("first", 0) => Ok(Code::of(format!("itemAt({items}, 0)"), Kind::Item)),
                    ("last", 0) => Ok(Code::of(format!("itemAt({items}, -1)"), Kind::Item)),
                    ("all", 0) => Ok(Code::of(items, Kind::Items)),
                    ("itemMatching", 1) => Ok(Code::of(format!("itemAt({items}, {list})"), Kind::Item)),
                    _ => Err(refused()),
                }
            }
            Kind::Date => match methods::date_method(name) {
                Some(is_date) => {
                    let kind = if is_date { Kind::Date } else { Kind::Value };
                    Ok(Code::of(format!("{}.{name}({list})", value.text), kind))
                }
                None => Err(refused()),
            },
            Kind::Global => {
                let global = &value.text;
                if global == "DateTime" {
                    let method = methods::date_source(name).ok_or_else(refused)?;
                    return Ok(Code::of(format!("flow.dates.{method}({list})"), Kind::Date));
                }
                if methods::is_static(global, name) {
                    Ok(Code::value(format!("{global}.{name}({list})")))
                } else {
                    Err(refused())
                }
            }
            Kind::Value | Kind::Json | Kind::Items => match methods::method(name, arguments.len()) {
                Some(Method::Standard) => {
                    let receiver = value.at(20);
                    let optional = if receiver.starts_with(['\'', '`', '[']) && !receiver.contains("?.") {
                        ""
                    } else {
                        "?"
                    };
                    let dot = if optional.is_empty() { "." } else { "?." };
                    Ok(Code::value(format!("{receiver}{dot}{name}({list})")))
                }
                Some(Method::Helper(helper)) => {
                    let rest = if list.is_empty() { String::new() } else { format!(", {list}") };
                    Ok(Code::value(format!("extend.{helper}({}{rest})", value.text)))
                }
                Some(Method::ToDate) => Ok(Code::of(format!("flow.dates.from({})", value.text), Kind::Date)),
                None => Err(refused()),
            },
            Kind::Item | Kind::Nodes | Kind::Fixed => Err(refused()),
        }
    }

    fn primary(&mut self) -> Result<Code, Refused> {
        let Some(token) = self.peek().cloned() else { return Err(self.refused()) };
        match token {
            Token::Number(number) => {
                self.at += 1;
                // A member of a number needs parentheses.
                Ok(Code { text: number, kind: Kind::Value, level: 19 })
            }
            Token::Text(text) => {
                self.at += 1;
                Ok(Code::value(javascript::string(&text)))
            }
            Token::Pattern(pattern, flags) => {
                self.at += 1;
                let (pattern, flags) = (javascript::string(&pattern), javascript::string(&flags));
                Ok(Code::value(format!("new RegExp({pattern}, {flags})")))
            }
            Token::Template(parts) => {
                self.at += 1;
                self.template(&parts)
            }
            Token::Punctuator("(") => {
                self.at += 1;
                let inner = self.assignment()?;
                self.expect(")")?;
                // A function that is called at once, or a chain of commas, is none of what is translated.
                if self.is("(") { Err(self.refused()) } else { Ok(inner) }
            }
            Token::Punctuator("[") => {
                self.at += 1;
                let mut values = Vec::new();
                while !self.take("]") {
                    let spread = if self.take("...") { "..." } else { "" };
                    values.push(format!("{spread}{}", self.assignment()?.at(2)));
                    if !self.take(",") {
                        self.expect("]")?;
                        break;
                    }
                }
                Ok(Code::value(format!("[{}]", values.join(", "))))
            }
            Token::Punctuator("{") => {
                self.at += 1;
                self.object()
            }
            Token::Name(name) => {
                self.at += 1;
                self.name(&name)
            }
            Token::Punctuator(_) => Err(self.refused()),
        }
    }

    fn template(&mut self, parts: &[TemplatePart]) -> Result<Code, Refused> {
        let mut text = String::from("`");
        for part in parts {
            match part {
                TemplatePart::Text(part) => javascript::template_text(part, &mut text),
                TemplatePart::Source(source) => {
                    let tokens = tokens(source).ok_or_else(|| Refused("`…`".to_owned()))?;
                    let inner = self.deeper(|parser| {
                        let parameters = parser.parameters.clone();
                        let mut inner = Parser {
                            tokens: &tokens,
                            at: 0,
                            depth: parser.depth,
                            scope: parser.scope,
                            parameters,
                        };
                        let code = inner.assignment()?;
                        if inner.at < tokens.len() { Err(inner.refused()) } else { Ok(code.into_value()) }
                    })?;
                    text.push_str(&format!("${{{inner}}}"));
                }
            }
        }
        text.push('`');
        Ok(Code::value(text))
    }

    fn object(&mut self) -> Result<Code, Refused> {
        let mut members = Vec::new();
        while !self.take("}") {
            if self.take("...") {
                members.push(format!("...{}", self.assignment()?.at(2)));
            } else if self.take("[") {
                let key = self.assignment()?.into_value();
                self.expect("]")?;
                self.expect(":")?;
                members.push(format!("[{key}]: {}", self.assignment()?.at(2)));
            } else {
                let (key, is_name) = match self.peek().cloned() {
                    Some(Token::Name(name)) => (name, true),
                    Some(Token::Text(text) | Token::Number(text)) => (text, false),
                    _ => return Err(self.refused()),
                };
                self.at += 1;
                if self.take(":") {
                    members.push(format!("{}: {}", javascript::key(&key), self.assignment()?.at(2)));
                } else if is_name {
                    let value = self.name(&key)?.into_value();
                    members.push(format!("{}: {value}", javascript::key(&key)));
                } else {
                    return Err(self.refused());
                }
            }
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        let text = if members.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", members.join(", ")) };
        // At the beginning of a statement it would be a block, which `return` and `=` before it prevent.
        Ok(Code { text, kind: Kind::Value, level: 19 })
    }

    fn name(&mut self, name: &str) -> Result<Code, Refused> {
        // The innermost of several with one name is meant.
        if let Some((_, local)) = self.parameters.iter().rev().find(|(parameter, _)| parameter == name) {
            let local = local.clone();
            return if self.is("(") { Err(Refused(format!("{name}()"))) } else { Ok(Code::value(local)) };
        }
        match name {
            "true" | "false" | "null" | "undefined" | "NaN" | "Infinity" => Ok(Code::value(name)),
            "$json" | "$data" => Ok(Code::of("item.json", Kind::Json)),
            "$itemIndex" => Ok(Code::value("index")),
            "$runIndex" => Ok(Code::value("0")),
            "$input" => Ok(Code::of("$input", Kind::Input)),
            "$now" => Ok(Code::of("flow.dates.now()", Kind::Date)),
            "$today" => Ok(Code::of("flow.dates.today()", Kind::Date)),
            "$node" => Ok(Code::of("$node", Kind::Nodes)),
            "$workflow" | "$execution" => Ok(Code::of(name, Kind::Fixed)),
            "$" | "$items" => {
                let (Some(Token::Punctuator("(")), Some(Token::Text(step)), Some(Token::Punctuator(")"))) =
                    (self.tokens.get(self.at), self.tokens.get(self.at + 1), self.tokens.get(self.at + 2))
                else {
                    return Err(Refused(format!("{name}(…)")));
                };
                let step = step.clone();
                self.at += 3;
                if !(self.scope.step)(&step) {
                    return Err(Refused(format!("$('{step}')")));
                }
                let literal = javascript::string(&step);
                Ok(if name == "$" {
                    Code::of(literal, Kind::Step)
                } else {
                    Code::of(format!("flow.all({literal})"), Kind::Items)
                })
            }
            "new" => self.construction(),
            "Math" | "JSON" | "Object" | "Array" | "DateTime" => Ok(Code::of(name, Kind::Global)),
            "Number" | "String" | "Boolean" | "Date" if !self.is("(") => Ok(Code::of(name, Kind::Global)),
            "$if" => {
                let arguments = self.arguments()?;
                match arguments.as_slice() {
                    [test, yes, no] => Ok(Code {
                        text: format!("(({test}) ? ({yes}) : ({no}))"),
                        kind: Kind::Value,
                        level: 20,
                    }),
                    _ => Err(Refused("$if".to_owned())),
                }
            }
            "$ifEmpty" => {
                let arguments = self.arguments()?;
                match arguments.as_slice() {
                    [_, _] => Ok(Code::value(format!("extend.ifEmpty({})", arguments.join(", ")))),
                    _ => Err(Refused("$ifEmpty".to_owned())),
                }
            }
            "$min" | "$max" => {
                Ok(Code::value(format!("Math.{}({})", &name[1..], self.arguments()?.join(", "))))
            }
            "parseInt" | "parseFloat" | "isNaN" | "isFinite" | "encodeURIComponent"
            | "decodeURIComponent" | "encodeURI" | "decodeURI" | "Number" | "String" | "Boolean" => {
                // Without arguments, it would be passed as a function, as in `map(Number)`.
                if !self.is("(") {
                    return Ok(Code::value(name));
                }
                Ok(Code::value(format!("{name}({})", self.arguments()?.join(", "))))
            }
            _ => Err(Refused(name.to_owned())),
        }
    }

    fn construction(&mut self) -> Result<Code, Refused> {
        let Some(Token::Name(class)) = self.peek().cloned() else { return Err(self.refused()) };
        self.at += 1;
        if !matches!(class.as_str(), "Date" | "Set" | "Map" | "URL" | "RegExp" | "Array" | "URLSearchParams")
        {
            return Err(Refused(format!("new {class}")));
        }
        let arguments = if self.is("(") { self.arguments()? } else { Vec::new() };
        Ok(Code { text: format!("new {class}({})", arguments.join(", ")), kind: Kind::Value, level: 19 })
    }
}

/// Returns the name of a parameter or a constant in the code: another than what the code around uses.
fn local_name(name: &str) -> Result<String, Refused> {
    if javascript::RESERVED.contains(&name) || !javascript::is_name(name) || name.starts_with('$') {
        return Err(Refused(name.to_owned()));
    }
    let needs_another = javascript::USED.contains(&name) || name.ends_with('_');
    Ok(if needs_another { format!("{name}_") } else { name.to_owned() })
}

fn level_of(operator: &str) -> Option<u8> {
    Some(match operator {
        "??" | "||" => 4,
        "&&" => 5,
        "|" => 6,
        "^" => 7,
        "&" => 8,
        "==" | "!=" | "===" | "!==" => 9,
        "<" | ">" | "<=" | ">=" | "in" | "instanceof" => 10,
        "+" | "-" => 11,
        "*" | "/" | "%" => 12,
        "**" => 13,
        _ => return None,
    })
}

/// Translates the access to a member.
fn member(value: Code, name: &str) -> Result<Code, Refused> {
    let refused = || Refused(format!(".{name}"));
    // What reaches the machinery of the language is no data.
    if matches!(name, "constructor" | "prototype" | "__proto__" | "__defineGetter__" | "__lookupGetter__") {
        return Err(refused());
    }
    match value.kind {
        Kind::Json => Ok(Code::value(format!("{}{}", value.text, javascript::member(name, false)))),
        Kind::Item => match name {
            "json" => Ok(Code::of(format!("{}.json", value.text), Kind::Json)),
            _ => Err(refused()),
        },
        Kind::Step => match name {
            "item" => Ok(Code::of(format!("flow.item({}, item)", value.text), Kind::Item)),
            "isExecuted" => Ok(Code::value(format!("flow.ran({})", value.text))),
            _ => Err(refused()),
        },
        // `$node["Step"]` has the members of an item.
        Kind::Nodes => Ok(Code::of(format!("flow.item({}, item)", javascript::string(name)), Kind::Item)),
        Kind::Input => match name {
            "item" => Ok(Code::of("item", Kind::Item)),
            _ => Err(refused()),
        },
        Kind::Items => match name {
            "length" => Ok(Code::value(format!("{}.length", value.text))),
            _ => Err(refused()),
        },
        Kind::Fixed => match (value.text.as_str(), name) {
            ("$workflow", "name") => Ok(Code::value("flow.workflow")),
            ("$execution", "id") => Ok(Code::value("flow.runId")),
            _ => Err(refused()),
        },
        Kind::Global => {
            if methods::is_constant(&value.text, name) {
                Ok(Code::value(format!("{}.{name}", value.text)))
            } else {
                Err(refused())
            }
        }
        Kind::Date => {
            if methods::is_date_member(name) {
                Ok(Code::value(format!("{}.{name}", value.text)))
            } else {
                Err(refused())
            }
        }
        Kind::Value => Ok(Code::value(format!("{}{}", value.at(20), javascript::member(name, true)))),
    }
}
