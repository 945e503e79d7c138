//! The Merge node.

use serde_json::Value;

use super::node::Node;
use crate::{Sentence, javascript, workflow::Translation};

pub(super) fn merge(node: &Node<'_>) -> Translation {
    let count = node.get("numberInputs").and_then(Value::as_u64).unwrap_or(2).clamp(2, 10);
    let mode = node.text("mode").unwrap_or("append");
    let combine = node.text("combineBy").or_else(|| node.text("combinationMode"));
    let line = match (mode, combine) {
        ("append", _) => format!("return [append(inputs, {count})];"),
        ("mergeByIndex", _) => {
            format!("return [byIndex(inputs, {})];", javascript::string(node.text("join").unwrap_or("left")))
        }
        ("combine", Some("mergeByPosition" | "combineByPosition")) => {
            let mut options = vec![format!("count: {count}")];
            if node.flag("options.includeUnpaired", false) {
                options.push("withUnpaired: true".to_owned());
            }
            if node.version < 3.0 {
                options.push("passesUnpaired: true".to_owned());
            }
            options.extend(clash_of(node).map(|clash| format!("clash: {clash}")));
            format!("return [byPosition(inputs, {{ {} }})];", options.join(", "))
        }
        ("multiplex", _) => "return [everyPair(inputs)];".to_owned(),
        ("combine", Some("multiplex" | "combineAll")) => {
            format!("return [everyPair(inputs, {})];", clash_of(node).unwrap_or_else(|| "{}".to_owned()))
        }
        ("passThrough" | "chooseBranch", _) => {
            if node.text("output") == Some("empty") {
                "return [[{ json: {} }]];".to_owned()
            } else {
                format!("return [inputs[{}] ?? []];", chosen_input(node) - 1)
            }
        }
        ("wait", _) => "return [[{ json: {} }]];".to_owned(),
        ("mergeByKey" | "keepKeyMatches" | "removeKeyMatches", _) => {
            let mode = match mode {
                "keepKeyMatches" => "keep",
                "removeKeyMatches" => "remove",
                _ => "merge",
            };
            let fields = format!("[{}, {}]", node.code("propertyName1"), node.code("propertyName2"));
            let overwrite = javascript::string(node.text("overwrite").unwrap_or("always"));
            format!("return [byKey(inputs, {{ fields: {fields}, mode: '{mode}', overwrite: {overwrite} }})];")
        }
        ("combine", None | Some("mergeByFields" | "combineByFields")) => merge_by_fields(node),
        ("combineBySql", _) => return Translation::unsupported(Sentence::CodeLanguage("SQL".to_owned())),
        _ => return Translation::unsupported(Sentence::Option("mode")),
    };
    Translation::exact_for_all([line]).partial(Sentence::Merge)
}

/// Returns the number of the input whose items are handed on, from 1; exports have it as a number, as text, or as a name.
fn chosen_input(node: &Node<'_>) -> u64 {
    let number = node.get("useDataOfInput").and_then(|value| match value {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    });
    let named = node
        .text("output")
        .and_then(|name| name.strip_prefix("input"))
        .and_then(|number| number.parse().ok());
    number.or(named).unwrap_or(1).clamp(1, 10)
}

/// Returns how values of the same name are put together, if it is not by default.
fn clash_of(node: &Node<'_>) -> Option<String> {
    let of = |name: &str| node.get(&format!("options.clashHandling.values.{name}"));
    let members = ["resolveClash", "mergeMode", "overrideEmpty"];
    let members: Vec<String> =
        members.iter().filter_map(|name| Some(format!("{name}: {}", node.value_code(of(name)?)))).collect();
    (!members.is_empty()).then(|| format!("{{ {} }}", members.join(", ")))
}

fn merge_by_fields(node: &Node<'_>) -> String {
    // What the other way to name them has is left over from before.
    let names = node.get("fieldsToMatchString").and_then(Value::as_str).filter(|names| !names.is_empty());
    let pairs = node.list("mergeByFields.values");
    let fields: Vec<String> = match names {
        Some(names) if !node.flag("advanced", false) => names
            .split(',')
            .map(|name| javascript::string(name.trim()))
            .map(|name| format!("[{name}, {name}]"))
            .collect(),
        _ => {
            let field = |pair: &Value, name: &str| {
                pair.get(name).map_or_else(|| "''".to_owned(), |value| node.value_code(value))
            };
            pairs
                .iter()
                .map(|pair| format!("[{}, {}]", field(pair, "field1"), field(pair, "field2")))
                .collect()
        }
    };
    let mut options = vec![format!("fields: [{}]", fields.join(", "))];
    for (path, name, default) in [
        ("joinMode", "join", "keepMatches"),
        ("outputDataFrom", "from", "both"),
        ("options.multipleMatches", "matches", "all"),
    ] {
        if let Some(value) = node.text(path).filter(|value| *value != default) {
            options.push(format!("{name}: {}", javascript::string(value)));
        }
    }
    options.extend(clash_of(node).map(|clash| format!("clash: {clash}")));
    for (path, name) in [("options.fuzzyCompare", "isLoose"), ("options.disableDotNotation", "isFlat")] {
        if node.flag(path, false) {
            options.push(format!("{name}: true"));
        }
    }
    if node.version < 2.1 {
        options.push("isStrict: true".to_owned());
    }
    format!("return [byFields(inputs, {{ {} }})];", options.join(", "))
}
