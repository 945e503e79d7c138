//! Meanings of names, members and calls in expressions.

use super::{
    Refused,
    code::{Code, Kind},
    parser::Parser,
};
use crate::{
    javascript,
    n8n::{
        lexer::Token,
        methods::{self, Method},
    },
};

impl Parser<'_> {
    pub(super) fn member_after(&mut self, value: Code) -> Result<Code, Refused> {
        let Some(Token::Name(name)) = self.peek().cloned() else { return Err(self.refused()) };
        self.at += 1;
        if self.is("(") { self.call(value, &name) } else { member(value, &name) }
    }

    pub(super) fn index_of(&mut self, value: Code) -> Result<Code, Refused> {
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

    pub(super) fn call(&mut self, value: Code, name: &str) -> Result<Code, Refused> {
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

    pub(super) fn name(&mut self, name: &str) -> Result<Code, Refused> {
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

    pub(super) fn construction(&mut self) -> Result<Code, Refused> {
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
pub(super) fn local_name(name: &str) -> Result<String, Refused> {
    if javascript::RESERVED.contains(&name) || !javascript::is_name(name) || name.starts_with('$') {
        return Err(Refused(name.to_owned()));
    }
    let needs_another = javascript::USED.contains(&name) || name.ends_with('_');
    Ok(if needs_another { format!("{name}_") } else { name.to_owned() })
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
