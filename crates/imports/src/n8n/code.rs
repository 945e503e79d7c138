//! Nodes with code of people.

use std::sync::LazyLock;

use regex::Regex;

use super::node::Node;
use crate::{Format, Sentence, bundle::given_names, code_names, workflow::Translation};

/// Names of n8n and Node.js that code cannot use here.
static MISSING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let names = r"\$env\b|\$vars\b|\$secrets\b|\$jmespath\b|\$getWorkflowStaticData\b|\$evaluateExpression\b|\$binary\b|\$parameter\b|\$prevNode\b|\$fromAI\b|\bgetBinaryDataBuffer\b|\bthis\.helpers\b|\bhelpers\.|\brequire\b|\bBuffer\b|\bprocess\.|\bgetWorkflowStaticData\b|\bgetNodeParameter\b|\bDuration\.|\bInterval\.|\baxios\b|\bmoment\b";
    Regex::new(names).ok()
});

pub(super) fn translate(node: &Node<'_>) -> Option<Translation> {
    let (source, each) = match node.kind {
        "code" => {
            if node.text("language").is_some_and(|language| language.starts_with("python")) {
                return Some(Translation::unsupported(Sentence::CodeLanguage("Python".to_owned())));
            }
            (
                node.get("jsCode").and_then(serde_json::Value::as_str),
                node.text("mode") == Some("runOnceForEachItem"),
            )
        }
        "function" => (node.get("functionCode").and_then(serde_json::Value::as_str), false),
        "functionItem" => (node.get("functionCode").and_then(serde_json::Value::as_str), true),
        _ => return None,
    };
    let source = source.unwrap_or("return items;");
    let mut translation = Translation::exact([if each {
        "return codeForEach(CODE, items, flow);"
    } else {
        "return codeForAll(CODE, items, flow);"
    }]);
    translation.code = Some(source.to_owned());
    translation.lower(Sentence::Code);
    let undeclared = code_names::undeclared_names(source, given_names(Format::N8n));
    if !undeclared.is_empty() {
        translation.lower(Sentence::DeclaredNames(undeclared.join(", ")));
    }
    let missing = missing_names(source);
    if !missing.is_empty() {
        translation.lower(Sentence::CodeNames(missing.join(", ")));
    }
    Some(translation)
}

/// Returns the names that code uses and that are not there, without repetition.
pub(crate) fn missing_names(source: &str) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for name in MISSING.iter().flat_map(|names| names.find_iter(source)) {
        let name = name.as_str().trim_end_matches('.');
        if found.len() < 6 && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}
