//! A node of a flow, and how its settings become code.

use std::{cell::RefCell, sync::LazyLock};

use regex::Regex;
use serde_json::Value;

use crate::{Sentence, javascript};

/// Longest path of a property.
const MAX_PATH_LEN: usize = 1_000;

/// A node.
pub(super) struct Node<'a> {
    pub(super) value: &'a Value,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) kind: &'a str,
    pub(super) disabled: bool,
    pub(super) in_subflow: bool,
    pub(super) place: Vec<String>,
    refused: RefCell<Vec<Sentence>>,
}

impl<'a> Node<'a> {
    pub(super) fn read(value: &'a Value, place: Vec<String>) -> Option<Self> {
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let kind = text("type")?;
        let id = text("id").filter(|id| !id.is_empty())?;
        let id = if id.len() <= 64 { id.to_owned() } else { id.chars().take(40).collect() };
        let name = ["name", "label", "topic"]
            .into_iter()
            .find_map(|key| text(key).filter(|name| !name.trim().is_empty()));
        Some(Self {
            value,
            id,
            name: name.unwrap_or(kind).chars().take(120).collect(),
            kind,
            // `d` is how the editor marks a node that is turned off.
            disabled: value.get("d").and_then(Value::as_bool).unwrap_or(false),
            in_subflow: false,
            place,
            refused: RefCell::default(),
        })
    }

    /// Whether it is a setting of other nodes: those have no place in the editor.
    pub(super) fn is_config(&self) -> bool {
        self.value.get("wires").is_none() && self.value.get("x").is_none() && self.kind != "comment"
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.value.get(name)
    }

    pub(super) fn text(&self, name: &str) -> &'a str {
        self.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::String(text)) => text == "true",
            _ => false,
        }
    }

    pub(super) fn list(&self, name: &str) -> &'a [Value] {
        self.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    pub(super) fn outputs(&self) -> usize {
        self.list("wires").len().clamp(1, 100)
    }

    pub(super) fn number(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    pub(super) fn refuse(&self, sentence: Sentence) {
        let mut list = self.refused.borrow_mut();
        if list.len() < 3 && !list.contains(&sentence) {
            list.push(sentence);
        }
    }

    /// Returns the code of a value with a type, as the editor's typed inputs have.
    pub(super) fn typed(&self, value: &str, kind: &str) -> String {
        let not_translated = |reason: Sentence| {
            self.refuse(reason);
            format!("notTranslated({})", javascript::string(value))
        };
        match kind {
            "msg" | "full" if value.is_empty() || kind == "full" => "msg".to_owned(),
            "msg" => path_code("msg", value)
                .unwrap_or_else(|| not_translated(Sentence::Expression(value.to_owned()))),
            "num" => {
                value.trim().parse::<f64>().ok().filter(|number| number.is_finite()).map_or_else(
                    || "0".to_owned(),
                    |_| format!("Number({})", javascript::string(value.trim())),
                )
            }
            "bool" => (value == "true").to_string(),
            "json" => match serde_json::from_str::<Value>(value) {
                Ok(value) => javascript::literal(&value),
                Err(_) => not_translated(Sentence::Expression(value.to_owned())),
            },
            "date" => match value {
                "iso" => "new Date().toISOString()".to_owned(),
                "object" => "new Date()".to_owned(),
                _ => "Date.now()".to_owned(),
            },
            "re" => format!("new RegExp({})", javascript::string(value)),
            "flow" | "global" => {
                self.refuse(Sentence::Context);
                format!("flow.variables.get({})", javascript::string(value))
            }
            "jsonata" => match simple_jsonata(value) {
                Some(code) => code,
                None => not_translated(Sentence::Expression(value.to_owned())),
            },
            "env" => not_translated(Sentence::Expression(format!("${{{value}}}"))),
            "bin" => not_translated(Sentence::Files),
            _ => javascript::string(value),
        }
    }

    /// Returns what could not be translated, once.
    pub(super) fn take_refused(&self) -> Vec<Sentence> {
        self.refused.take()
    }
}

/// Returns the access to a path such as `payload.items[0].name`.
fn path_code(root: &str, path: &str) -> Option<String> {
    static PART: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"^(?:\.?([A-Za-z_$][A-Za-z0-9_$]*)|\[(\d+)\]|\["([^"\\]*)"\]|\['([^'\\]*)'\])"#).ok()
    });
    if path.len() > MAX_PATH_LEN {
        return None;
    }
    let mut code = root.to_owned();
    let mut rest = path;
    while !rest.is_empty() {
        let parts = PART.as_ref()?.captures(rest)?;
        let is_first = code == root;
        let name = parts.get(1).or_else(|| parts.get(3)).or_else(|| parts.get(4));
        match (name, parts.get(2)) {
            (Some(name), _) => code.push_str(&javascript::member(name.as_str(), !is_first)),
            (None, Some(index)) => code.push_str(&format!("?.[{}]", index.as_str())),
            (None, None) => return None,
        }
        rest = &rest[parts.get(0)?.end()..];
    }
    Some(code)
}

/// JSONata that is only a path, a number, or a text.
pub(super) fn simple_jsonata(expression: &str) -> Option<String> {
    let expression = expression.trim();
    if expression.parse::<f64>().is_ok_and(f64::is_finite) {
        return Some(expression.to_owned());
    }
    if let Some(text) = expression.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))
        && !text.contains(['"', '\\'])
    {
        return Some(javascript::string(text));
    }
    match expression {
        "$now()" => return Some("new Date().toISOString()".to_owned()),
        "$millis()" => return Some("Date.now()".to_owned()),
        _ => {}
    }
    let is_path = expression.split('.').all(javascript::is_name) && !expression.contains('$');
    is_path.then(|| path_code("msg", expression)).flatten()
}
