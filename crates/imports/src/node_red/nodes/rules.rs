//! Nodes with rules: what they change in a message, and where they send it.

use serde_json::Value;

use super::{super::node::Node, on_messages};
use crate::{Sentence, javascript, workflow::Translation};

/// Returns the code that sets a property of a message, or one that is kept for the run.
fn setter(node: &Node<'_>, path: &str, kind: &str, value: &str) -> String {
    match kind {
        "flow" | "global" => {
            node.refuse(Sentence::Context);
            format!("flow.variables.set({}, {value});", javascript::string(path))
        }
        _ => format!("setIn(msg, {}, {value});", javascript::string(path)),
    }
}

pub(super) fn change(node: &Node<'_>) -> Translation {
    let mut lines = Vec::new();
    let classic;
    let rules = match node.get("rules").and_then(Value::as_array) {
        Some(rules) => rules.as_slice(),
        None => {
            // The first form of the node had one rule.
            let action = match node.text("action") {
                "replace" => "set",
                other => other,
            };
            classic = [
                serde_json::json!({"t": action, "p": node.text("property"), "pt": "msg", "to": node.text("to"), "tot": "str", "from": node.text("from"), "fromt": if node.flag("reg") { "re" } else { "str" }}),
            ];
            &classic[..]
        }
    };
    for rule in rules {
        let text = |name: &str| rule.get(name).and_then(Value::as_str).unwrap_or_default();
        let (path, kind) = (text("p"), if text("pt").is_empty() { "msg" } else { text("pt") });
        let to = || node.typed(text("to"), if text("tot").is_empty() { "str" } else { text("tot") });
        match text("t") {
            "set" => {
                let value = to();
                let value = if rule.get("dc").and_then(Value::as_bool) == Some(true) {
                    format!("structuredClone({value})")
                } else {
                    value
                };
                lines.push(setter(node, path, kind, &value));
            }
            "delete" => lines.push(format!("changed.remove(msg, {});", javascript::string(path))),
            "move" => {
                lines.push(setter(
                    node,
                    text("to"),
                    if text("tot").is_empty() { "msg" } else { text("tot") },
                    &node.typed(path, kind),
                ));
                lines.push(format!("changed.remove(msg, {});", javascript::string(path)));
            }
            "change" => {
                let from = if text("fromt") == "re" {
                    format!("new RegExp({}, 'g')", javascript::string(text("from")))
                } else {
                    node.typed(text("from"), text("fromt"))
                };
                let value = format!("changed.replaced({}, {from}, {})", node.typed(path, kind), to());
                lines.push(setter(node, path, kind, &value));
            }
            other => return Translation::unsupported(Sentence::Setting(other.to_owned())),
        }
    }
    lines.push("return msg;".to_owned());
    on_messages(lines)
}

pub(super) fn switch(node: &Node<'_>) -> Translation {
    let value = node.typed(
        node.text("property"),
        if node.text("propertyType").is_empty() { "msg" } else { node.text("propertyType") },
    );
    let rules = node.list("rules");
    let first_only = node.text("checkall") == "false";
    let mut lines = vec![format!("const value = {value};"), "const outputs = [];".to_owned()];
    for (index, rule) in rules.iter().enumerate().take(100) {
        let text = |name: &str| match rule.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(other) if !other.is_null() => other.to_string(),
            _ => String::new(),
        };
        let typed = |value: &str, kind: &str| {
            let kind = text(kind);
            // Without a type, a value that looks like a number is one.
            let kind = if kind.is_empty() {
                if text(value).parse::<f64>().is_ok() { "num".to_owned() } else { "str".to_owned() }
            } else {
                kind
            };
            if kind == "prev" {
                node.refuse(Sentence::Context);
                return "undefined".to_owned();
            }
            node.typed(&text(value), &kind)
        };
        let test = match text("t").as_str() {
            "else" => "outputs.length === 0".to_owned(),
            "jsonata_exp" => format!("Boolean({})", node.typed(&text("v"), "jsonata")),
            "head" | "tail" | "index" => {
                node.refuse(Sentence::MessageClone);
                format!(
                    "switchTest({}, value, {}, {}, msg)",
                    javascript::string(&text("t")),
                    typed("v", "vt"),
                    typed("v2", "v2t")
                )
            }
            "istype" => format!("switchTest('istype', value, {})", javascript::string(&text("v"))),
            "regex" => format!(
                "new RegExp({}{}).test(String(value))",
                javascript::string(&text("v")),
                if rule.get("case").and_then(Value::as_bool) == Some(true) { ", 'i'" } else { "" }
            ),
            "btwn" => format!("switchTest('btwn', value, {}, {})", typed("v", "vt"), typed("v2", "v2t")),
            kind @ ("true" | "false" | "null" | "nnull" | "empty" | "nempty") => {
                format!("switchTest('{kind}', value)")
            }
            kind @ ("eq" | "neq" | "lt" | "lte" | "gt" | "gte" | "cont" | "hask") => {
                format!("switchTest('{kind}', value, {})", typed("v", "vt"))
            }
            other => return Translation::unsupported(Sentence::Setting(other.to_owned())),
        };
        let only = if first_only { "outputs.length === 0 && " } else { "" };
        lines.push(format!("if ({only}({test})) outputs.push({index});"));
    }
    lines.push(format!("return changed.sent(msg, outputs, {});", rules.len().clamp(1, 100)));
    let translation = on_messages(lines);
    if node.flag("repair") { translation.partial(Sentence::Option("repair")) } else { translation }
}
