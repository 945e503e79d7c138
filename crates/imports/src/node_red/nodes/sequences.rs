//! Nodes that take messages apart, put them together, and order them.

use super::{
    super::node::{Node, simple_jsonata},
    on_messages,
};
use crate::{Sentence, javascript, workflow::Translation};

pub(super) fn split(node: &Node<'_>) -> Translation {
    let separator = if node.text("splt").is_empty() { "\\n" } else { node.text("splt") };
    let (separator, kind) = (unescaped(separator), node.text("spltType"));
    let options = format!(
        "{{ separator: {}, kind: {}, size: {}, field: {} }}",
        javascript::string(&separator),
        javascript::string(if kind.is_empty() { "str" } else { kind }),
        node.number("arraySplt").filter(|size| *size >= 1.0).unwrap_or(1.0),
        javascript::string(if node.text("property").is_empty() { "payload" } else { node.text("property") }),
    );
    let translation = Translation::exact([format!(
        "return [items.flatMap((item) => splitMessage(item.json, {options}).map((json) => ({{ json, origin: item }})))];"
    )]);
    if kind == "bin" || node.flag("stream") {
        translation.partial(Sentence::Option("stream"))
    } else {
        translation
    }
}

pub(super) fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t")
}

pub(super) fn join(node: &Node<'_>) -> Translation {
    match node.text("mode") {
        "reduce" => return Translation::unsupported(Sentence::Expression(node.text("reduceExp").to_owned())),
        "" | "auto" => return Translation::exact(["return [joined(items, { mode: 'auto' })];"]),
        _ => {}
    }
    let count = node.number("count").filter(|count| *count >= 1.0).unwrap_or(0.0);
    let options = format!(
        "{{ mode: 'custom', build: {}, field: {}, key: {}, joiner: {}, count: {count} }}",
        javascript::string(if node.text("build").is_empty() { "string" } else { node.text("build") }),
        javascript::string(if node.text("propertyType") == "full" {
            ""
        } else if node.text("property").is_empty() {
            "payload"
        } else {
            node.text("property")
        }),
        javascript::string(if node.text("key").is_empty() { "topic" } else { node.text("key") }),
        javascript::string(&unescaped(node.text("joiner"))),
    );
    Translation::exact([format!("return [joined(items, {options})];")]).partial(Sentence::Merge)
}

pub(super) fn sort(node: &Node<'_>) -> Translation {
    let key = |kind: &str, key: &str| match (node.text(kind), node.text(key)) {
        ("jsonata", expression) => simple_jsonata(expression).unwrap_or_else(|| {
            node.refuse(Sentence::Expression(expression.to_owned()));
            "notTranslated('JSONata')".to_owned()
        }),
        (_, path) => node.typed(path, "msg"),
    };
    let falls = node.text("order") == "descending";
    let numbers = node.flag("as_num");
    let options = format!("{{ falls: {falls}, numbers: {numbers} }}");
    if node.text("targetType") == "seq" {
        return Translation::exact([format!(
            "return [sortedMessages(items, ({{ json: msg }}) => {}, {options})];",
            key("seqKeyType", "seqKey")
        )]);
    }
    let target =
        javascript::string(if node.text("target").is_empty() { "payload" } else { node.text("target") });
    let by = if node.text("msgKeyType") == "elem" {
        "undefined".to_owned()
    } else {
        format!("(msg) => {}", key("msgKeyType", "msgKey"))
    };
    on_messages([format!("return changed.sortedIn(msg, {target}, {by}, {options});")])
}

pub(super) fn batch(node: &Node<'_>) -> Translation {
    if node.text("mode") != "count" && !node.text("mode").is_empty() {
        return Translation::unsupported(Sentence::Option("mode"));
    }
    let (count, overlap) =
        (node.number("count").unwrap_or(10.0).max(1.0), node.number("overlap").unwrap_or(0.0).max(0.0));
    Translation::exact([format!("return [batched(items, {count}, {overlap})];")])
}
