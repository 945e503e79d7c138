//! Nodes that decide where items go.

use serde_json::Value;

use super::{merge, node::Node};
use crate::{Sentence, javascript, workflow::Translation};

pub(super) fn translate(node: &Node<'_>) -> Option<Translation> {
    Some(match node.kind {
        "noOp" => Translation::ignored(Sentence::DoesNothing),
        "if" => if_node(node),
        "filter" => filter(node),
        "switch" => switch(node),
        "merge" => merge::merge(node),
        "splitInBatches" => split_in_batches(),
        "wait" => wait(node),
        "stopAndError" => stop(node),
        "respondToWebhook" => {
            let mut response = Translation::unsupported(Sentence::NoResponse);
            // What follows the response goes on.
            response.body.push("return [items];".to_owned());
            response
        }
        "executeWorkflow" => Translation::unsupported(Sentence::OtherWorkflow),
        _ => return None,
    })
}

/// Returns the code of a condition for the current item.
pub(super) fn condition(node: &Node<'_>, conditions: &Value) -> String {
    if let Some(list) = conditions.get("conditions").and_then(Value::as_array) {
        return modern_condition(node, conditions, list);
    }
    classic_condition(
        node,
        conditions,
        node.text("combineOperation").or_else(|| node.text("combineConditions")),
    )
}

fn join(tests: &[String], is_any: bool) -> String {
    match tests {
        [] => "true".to_owned(),
        [only] => only.clone(),
        _ => tests.join(if is_any { " || " } else { " && " }),
    }
}

/// Conditions of the versions 2 and later: each has an operator with a type and a name.
fn modern_condition(node: &Node<'_>, conditions: &Value, list: &[Value]) -> String {
    let ignores_case = node.flag("options.ignoreCase", false)
        || conditions.pointer("/options/caseSensitive").and_then(Value::as_bool) == Some(false);
    let version =
        conditions.pointer("/options/version").and_then(Value::as_f64).filter(|version| *version > 1.0);
    let is_loose = node.flag("options.looseTypeValidation", false)
        || node.flag("looseTypeValidation", false)
        || conditions.pointer("/options/typeValidation").and_then(Value::as_str) == Some("loose");
    let mut tests = Vec::new();
    for condition in list {
        let text = |path: &str| condition.pointer(path).and_then(Value::as_str);
        let (kind, operation) =
            (text("/operator/type").unwrap_or("string"), text("/operator/operation").unwrap_or("equals"));
        let value = |name: &str| {
            condition.get(name).map_or_else(|| "undefined".to_owned(), |value| node.value_code(value))
        };
        let mut options = Vec::new();
        if ignores_case {
            options.push("ignoreCase: true".to_owned());
        }
        if is_loose {
            options.push("loose: true".to_owned());
        }
        options.extend(version.map(|version| format!("version: {version}")));
        if let Some(right) = text("/operator/rightType").filter(|right| *right != kind) {
            options.push(format!("rightType: {}", javascript::string(right)));
        }
        if condition.pointer("/operator/singleValue").and_then(Value::as_bool) == Some(true) {
            options.push("single: true".to_owned());
        }
        let options =
            if options.is_empty() { String::new() } else { format!(", {{ {} }}", options.join(", ")) };
        let test = javascript::string(&format!("{kind}:{operation}"));
        tests.push(format!("fulfils({}, {test}, {}{options})", value("leftValue"), value("rightValue")));
    }
    join(&tests, conditions.get("combinator").and_then(Value::as_str) == Some("or"))
}

/// Conditions of version 1: lists by type.
fn classic_condition(node: &Node<'_>, conditions: &Value, combine: Option<&str>) -> String {
    let mut tests = Vec::new();
    for kind in ["boolean", "dateTime", "number", "string"] {
        for condition in conditions.get(kind).and_then(Value::as_array).into_iter().flatten() {
            let value = |name: &str| {
                condition.get(name).map_or_else(|| "undefined".to_owned(), |value| node.value_code(value))
            };
            let default = match kind {
                "dateTime" => "after",
                "number" => "smaller",
                _ => "equal",
            };
            let operation = condition.get("operation").and_then(Value::as_str).unwrap_or(default);
            if kind == "boolean" {
                // They are compared as they are.
                let right =
                    condition.get("value2").map_or_else(|| "false".to_owned(), |it| node.value_code(it));
                let sign = if operation == "notEqual" { "!==" } else { "===" };
                tests.push(format!("({}) {sign} ({right})", value("value1")));
                continue;
            }
            tests.push(classic_test(kind, operation, &value("value1"), &value("value2")));
        }
    }
    join(
        &tests,
        combine
            .is_some_and(|combine| combine.eq_ignore_ascii_case("any") || combine.eq_ignore_ascii_case("or")),
    )
}

fn classic_test(kind: &str, operation: &str, left: &str, right: &str) -> String {
    let operation = match operation {
        "equal" => "equals",
        "notEqual" => "notEquals",
        "smaller" => "lt",
        "smallerEqual" => "lte",
        "larger" => "gt",
        "largerEqual" => "gte",
        "isEmpty" => "empty",
        "isNotEmpty" => "notEmpty",
        other => other,
    };
    format!(
        "holds({left}, {}, {right}, {{ loose: true }})",
        javascript::string(&format!("{kind}:{operation}"))
    )
}

fn if_node(node: &Node<'_>) -> Translation {
    let Some(conditions) = node.get("conditions") else { return Translation::exact(["return [items, []];"]) };
    let test = condition(node, conditions);
    Translation::exact([format!("return divide(items, (item, index) => ({test} ? 0 : 1), 2);")])
}

fn filter(node: &Node<'_>) -> Translation {
    let Some(conditions) = node.get("conditions") else { return Translation::exact(["return [items];"]) };
    let test = condition(node, conditions);
    Translation::exact([format!("return divide(items, (item, index) => ({test} ? 0 : 1), 2);")])
}

fn switch(node: &Node<'_>) -> Translation {
    if node.text("mode") == Some("expression") {
        let outputs = node.get("numberOutputs").and_then(Value::as_u64).unwrap_or(4).clamp(1, 100);
        let output = node.code("output");
        return Translation::exact([format!("return divide(items, (item, index) => {output}, {outputs});")]);
    }
    let mut lines = Vec::new();
    let (rules, is_modern) =
        match node.get("rules.values").or_else(|| node.get("rules.rules")).and_then(Value::as_array) {
            Some(rules) => (rules.as_slice(), rules.iter().any(|rule| rule.get("conditions").is_some())),
            None => (&[][..], true),
        };
    let mut outputs = rules.len();
    let all_matching = node.flag("options.allMatchingOutputs", false);
    lines.push("const outputsOf = (item, index) => {".to_owned());
    lines.push("  const found = [];".to_owned());
    for (index, rule) in rules.iter().enumerate() {
        let (test, output) = if is_modern {
            (
                rule.get("conditions")
                    .map_or_else(|| "true".to_owned(), |conditions| condition(node, conditions)),
                index,
            )
        } else {
            let kind = node.text("dataType").unwrap_or("number");
            let operation = rule.get("operation").and_then(Value::as_str).unwrap_or(if kind == "number" {
                "smaller"
            } else {
                "equal"
            });
            let value =
                rule.get("value2").map_or_else(|| "undefined".to_owned(), |value| node.value_code(value));
            let output =
                rule.get("output").and_then(Value::as_u64).and_then(|output| usize::try_from(output).ok());
            (classic_test(kind, operation, &node.code("value1"), &value), output.unwrap_or(index).min(99))
        };
        outputs = outputs.max(output + 1);
        let stop = if all_matching { "" } else { "found.length === 0 && " };
        lines.push(format!("  if ({stop}({test})) found.push({output});"));
    }
    let fallback = match node.get("options.fallbackOutput").or_else(|| node.get("fallbackOutput")) {
        Some(Value::String(text)) if text == "extra" => {
            outputs += 1;
            Some(outputs - 1)
        }
        Some(Value::Number(number)) => {
            number.as_u64().and_then(|number| usize::try_from(number).ok()).filter(|number| *number < 100)
        }
        _ => None,
    };
    if let Some(fallback) = fallback {
        outputs = outputs.max(fallback + 1);
        lines.push(format!("  if (found.length === 0) found.push({fallback});"));
    }
    lines.push("  return found;".to_owned());
    lines.push("};".to_owned());
    lines.push(format!("return divide(items, outputsOf, {outputs});"));
    Translation::exact(lines)
}

/// Both outputs, `loop` and `done`, get all items; what comes back from the loop reaches `done` by rerouted links.
fn split_in_batches() -> Translation {
    Translation::exact(["return [items, items];"]).partial(Sentence::Batches)
}

fn wait(node: &Node<'_>) -> Translation {
    if !matches!(node.text("resume"), None | Some("timeInterval")) {
        return Translation::unsupported(Sentence::Option("resume"));
    }
    let amount = node.code_or("amount", if node.version < 1.1 { "1" } else { "5" });
    let unit = node.text("unit").unwrap_or(if node.version < 1.1 { "hours" } else { "seconds" });
    let factor = match unit {
        "seconds" => 1_000,
        "minutes" => 60_000,
        "hours" => 3_600_000,
        _ => 86_400_000,
    };
    let lines = [format!("await sleep(Number({amount}) * {factor}, flow);"), "return [items];".to_owned()];
    Translation::exact_for_all(lines).partial(Sentence::Wait)
}

fn stop(node: &Node<'_>) -> Translation {
    let message = if node.text("errorType") == Some("errorObject") {
        format!("JSON.stringify({})", node.code("errorObject"))
    } else {
        node.code_or("errorMessage", "''")
    };
    Translation::exact_for_all([format!("throw new Error(String({message}));")])
}
