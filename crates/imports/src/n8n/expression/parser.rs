//! The grammar of expressions, by precedence of operators.

use super::{
    Refused, Scope,
    code::{Code, Kind},
    names::local_name,
};
use crate::{
    javascript,
    n8n::lexer::{TemplatePart, Token, tokens},
};

/// Deepest nesting of an expression.
const MAX_DEPTH: usize = 120;

pub(super) struct Parser<'a> {
    pub(super) tokens: &'a [Token],
    pub(super) at: usize,
    pub(super) depth: usize,
    pub(super) scope: Scope<'a>,
    /// Parameters and constants of the arrow functions around, with their names in the code.
    pub(super) parameters: Vec<(String, String)>,
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    pub(super) fn is(&self, punctuator: &str) -> bool {
        matches!(self.peek(), Some(Token::Punctuator(found)) if *found == punctuator)
    }

    pub(super) fn take(&mut self, punctuator: &str) -> bool {
        let is_there = self.is(punctuator);
        self.at += usize::from(is_there);
        is_there
    }

    pub(super) fn expect(&mut self, punctuator: &str) -> Result<(), Refused> {
        if self.take(punctuator) { Ok(()) } else { Err(self.refused()) }
    }

    pub(super) fn refused(&self) -> Refused {
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

    pub(super) fn assignment(&mut self) -> Result<Code, Refused> {
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

    pub(super) fn arguments(&mut self) -> Result<Vec<String>, Refused> {
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
