//! The nodes of flows.

use std::{cell::RefCell, collections::BTreeSet, sync::LazyLock};

use regex::Regex;
use serde_json::Value;

use crate::{
    Grade, Sentence, cron,
    hosts::literal_host,
    javascript,
    secrets::REMOVED,
    workflow::{CONNECTION, Need, Start, Translation},
};

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

    fn get(&self, name: &str) -> Option<&'a Value> {
        self.value.get(name)
    }

    fn text(&self, name: &str) -> &'a str {
        self.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Some(Value::Bool(flag)) => *flag,
            Some(Value::String(text)) => text == "true",
            _ => false,
        }
    }

    pub(super) fn list(&self, name: &str) -> &'a [Value] {
        self.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn outputs(&self) -> usize {
        self.list("wires").len().clamp(1, 100)
    }

    fn number(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        }
    }

    fn refuse(&self, sentence: Sentence) {
        let mut list = self.refused.borrow_mut();
        if list.len() < 3 && !list.contains(&sentence) {
            list.push(sentence);
        }
    }

    /// Returns the code of a value with a type, as the editor's typed inputs have.
    fn typed(&self, value: &str, kind: &str) -> String {
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
fn simple_jsonata(expression: &str) -> Option<String> {
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

pub(super) fn translate(node: &Node<'_>) -> Translation {
    let mut translation = translate_kind(node);
    for reason in node.refused.take() {
        if translation.grade != Grade::Unsupported {
            translation.lower(reason);
        }
    }
    translation
}

/// A function of a message that gives messages: one, none, or a list for each output.
fn on_messages(lines: impl IntoIterator<Item = String>) -> Translation {
    let mut body = vec!["return onMessages(items, (msg, item) => {".to_owned()];
    body.extend(lines.into_iter().map(|line| format!("  {line}")));
    body.push("});".to_owned());
    Translation::exact(body)
}

fn translate_kind(node: &Node<'_>) -> Translation {
    match node.kind {
        "inject" => inject(node),
        "debug" => debug(node),
        "template" => template(node),
        "change" => change(node),
        "switch" => switch(node),
        "split" => split(node),
        "join" => join(node),
        "function" => function(node),
        "range" => range(node),
        "json" => json(node),
        "csv" => csv(node),
        "sort" => sort(node),
        "batch" => batch(node),
        "delay" => delay(node),
        "trigger" => {
            let first = if node.text("op1type") == "nul" {
                "return null;".to_owned()
            } else {
                format!(
                    "msg.payload = {};",
                    node.typed(
                        node.text("op1"),
                        if node.text("op1type") == "pay" { "msg" } else { node.text("op1type") }
                    )
                    .replace("msg;", "msg.payload;")
                )
            };
            let first = if node.text("op1type") == "pay" { String::new() } else { first };
            on_messages(
                [first, "return msg;".to_owned()]
                    .into_iter()
                    .filter(|line| !line.is_empty())
                    .take(if node.text("op1type") == "nul" { 1 } else { 2 }),
            )
            .partial(Sentence::Option("trigger"))
        }
        "link in" | "link out" | "junction" => Translation::exact(["return [items];"]),
        "http in" => {
            let body = "return [[{ json: { payload: flow.event.data ?? {}, req: { body: flow.event.data ?? {}, query: {}, params: {}, headers: {} }, res: {} } }]];";
            Translation::start(Start::Webhook, [body]).partial(Sentence::BodyOnly)
        }
        "http response" => {
            let mut response = Translation::unsupported(Sentence::NoResponse);
            response.body.push("return [items];".to_owned());
            response
        }
        "http request" => http_request(node),
        "html" => html(node),
        "catch" | "status" | "complete" => Translation::unsupported(Sentence::Catch),
        "link call" => Translation::unsupported(Sentence::OtherWorkflow),
        kind if kind.starts_with("subflow:") => Translation::unsupported(Sentence::OtherWorkflow),
        "file" | "file in" | "watch" | "exec" | "tail" => Translation::unsupported(Sentence::Files),
        "mqtt in" | "tcp in" | "udp in" | "websocket in" => Translation::lost_start(Sentence::Network),
        "tcp out" | "tcp request" | "udp out" | "mqtt out" | "websocket out" => {
            Translation::unsupported(Sentence::Network)
        }
        "rbe" | "filter" => Translation::unsupported(Sentence::Context),
        _ => Translation::unsupported(Sentence::UnknownType),
    }
}

fn inject(node: &Node<'_>) -> Translation {
    let mut lines = vec!["const msg = {};".to_owned()];
    if let Some(props) = node.get("props").and_then(Value::as_array) {
        for prop in props {
            let text = |name: &str| prop.get(name).and_then(Value::as_str);
            let Some(name) = text("p") else { continue };
            // Older properties are beside the list.
            let (value, kind) = match (name, text("v")) {
                ("payload", None) => (node.text("payload"), node.text("payloadType")),
                ("topic", None) => (node.text("topic"), "str"),
                (_, value) => (value.unwrap_or_default(), text("vt").unwrap_or("str")),
            };
            lines.push(format!("setIn(msg, {}, {});", javascript::string(name), node.typed(value, kind)));
        }
    } else {
        lines.push(format!("msg.payload = {};", node.typed(node.text("payload"), node.text("payloadType"))));
        lines.push(format!("msg.topic = {};", javascript::string(node.text("topic"))));
    }
    lines.push("return [[{ json: msg }]];".to_owned());
    let crontab = node.text("crontab").trim();
    if !crontab.is_empty() {
        return match cron::five_fields(crontab) {
            (Some(cron), differs) if differs => {
                Translation::start(Start::Schedule(cron), lines).partial(Sentence::Option("crontab"))
            }
            (Some(cron), _) => Translation::start(Start::Schedule(cron), lines),
            (None, _) => Translation::lost_start(Sentence::Trigger),
        };
    }
    match node.number("repeat").filter(|seconds| *seconds > 0.0) {
        Some(seconds) => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a positive number of seconds; a larger one saturates"
            )]
            let seconds = seconds as u64;
            let (cron, differs) = cron::every_minutes(seconds / 60);
            let start =
                Translation::start(Start::Schedule(cron.unwrap_or_else(|| "* * * * *".to_owned())), lines);
            if differs || !seconds.is_multiple_of(60) {
                start.partial(Sentence::Option("repeat"))
            } else {
                start
            }
        }
        None => Translation::start(Start::Manual, lines),
    }
}

fn debug(node: &Node<'_>) -> Translation {
    let value = match node.text("targetType") {
        "full" => "msg".to_owned(),
        "jsonata" => node.typed(node.text("complete"), "jsonata"),
        _ => match node.text("complete") {
            "true" => "msg".to_owned(),
            "" | "false" => "msg.payload".to_owned(),
            path => node.typed(path, "msg"),
        },
    };
    let label = javascript::string(&node.name);
    on_messages([format!("console.log({label}, {value});"), "return null;".to_owned()])
}

fn template(node: &Node<'_>) -> Translation {
    let text = javascript::string(node.text("template"));
    let value = if node.text("syntax") == "plain" { text } else { format!("mustache({text}, msg)") };
    let value = match node.text("output") {
        "json" => format!("JSON.parse({value})"),
        "yaml" => return Translation::unsupported(Sentence::Option("output")),
        _ => value,
    };
    let field = if node.text("field").is_empty() { "payload" } else { node.text("field") };
    if !matches!(node.text("fieldType"), "" | "msg") {
        return Translation::unsupported(Sentence::Context);
    }
    let translation = on_messages([
        format!("setIn(msg, {}, {value});", javascript::string(field)),
        "return msg;".to_owned(),
    ]);
    if node.text("template").contains("{{flow.")
        || node.text("template").contains("{{global.")
        || node.text("template").contains("{{env.")
    {
        return translation.partial(Sentence::Context);
    }
    translation
}

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

fn change(node: &Node<'_>) -> Translation {
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

fn switch(node: &Node<'_>) -> Translation {
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

fn split(node: &Node<'_>) -> Translation {
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

fn unescaped(text: &str) -> String {
    text.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t")
}

fn join(node: &Node<'_>) -> Translation {
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

fn function(node: &Node<'_>) -> Translation {
    static MISSING: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\brequire\b|\bBuffer\b|\bprocess\.|\bRED\.util\b|\bsetInterval\b|\bnode\.on\b").ok()
    });
    let source = node.text("func");
    let mut translation =
        Translation::exact([format!("return nodeFunction(CODE, items, flow, {});", node.outputs())])
            .partial(Sentence::Code);
    translation.code = Some(source.to_owned());
    let mut missing: Vec<&str> = Vec::new();
    for name in MISSING.iter().flat_map(|names| names.find_iter(source)) {
        if !missing.contains(&name.as_str()) {
            missing.push(name.as_str());
        }
    }
    if !missing.is_empty() {
        translation.lower(Sentence::CodeNames(missing.join(", ")));
    }
    if source.contains("flow.") || source.contains("global.") || source.contains("context.") {
        translation.lower(Sentence::Context);
    }
    if node.get("libs").and_then(Value::as_array).is_some_and(|libs| !libs.is_empty()) {
        translation.lower(Sentence::Option("libs"));
    }
    translation
}

fn range(node: &Node<'_>) -> Translation {
    let number = |name: &str| node.number(name).filter(|number| number.is_finite()).unwrap_or(0.0);
    let field = if node.text("property").is_empty() { "payload" } else { node.text("property") };
    let options = format!(
        "{{ field: {}, from: [{}, {}], to: [{}, {}], action: {}, round: {} }}",
        javascript::string(field),
        number("minin"),
        number("maxin"),
        number("minout"),
        number("maxout"),
        javascript::string(node.text("action")),
        node.flag("round"),
    );
    on_messages([format!("return rangeOf(msg, {options});")])
}

fn json(node: &Node<'_>) -> Translation {
    let field = if node.text("property").is_empty() { "payload" } else { node.text("property") };
    on_messages([format!(
        "return jsonMessage(msg, {}, {}, {});",
        javascript::string(field),
        javascript::string(node.text("action")),
        node.flag("pretty")
    )])
}

fn html(node: &Node<'_>) -> Translation {
    let field =
        |name: &str| javascript::string(if node.text(name).is_empty() { "payload" } else { node.text(name) });
    let selector = if node.text("tag").is_empty() {
        "msg.select".to_owned()
    } else {
        javascript::string(node.text("tag"))
    };
    let value = match node.text("ret") {
        "text" => "textOf(element)",
        "attr" => "({ ...element.attributes })",
        "" | "html" => "innerHtml(element)",
        _ => return Translation::unsupported(Sentence::Option("ret")),
    };
    let mut lines = vec![format!(
        "const values = select(get(msg, {}), {selector}).map((element) => {value});",
        field("property")
    )];
    if node.text("as") == "multi" {
        lines.push(format!("return [values.map((value) => {{ const sent = structuredClone(msg); setIn(sent, {}, value); return sent; }})];", field("outproperty")));
    } else {
        lines.extend([format!("setIn(msg, {}, values);", field("outproperty")), "return msg;".to_owned()]);
    }
    on_messages(lines).partial(Sentence::Option("selectors"))
}

fn csv(node: &Node<'_>) -> Translation {
    let options = format!(
        "{{ separator: {}, columns: {}, header: {}, multi: {}, skip: {}, numbers: {} }}",
        javascript::string(&unescaped(if node.text("sep").is_empty() { "," } else { node.text("sep") })),
        javascript::string(node.text("temp")),
        node.flag("hdrin"),
        javascript::string(if node.text("multi").is_empty() { "one" } else { node.text("multi") }),
        node.number("skip").unwrap_or(0.0),
        node.get("strings").is_none() || node.flag("strings"),
    );
    let line = format!(
        "return [items.flatMap((item) => csvMessage(item.json, {options}).map((json) => ({{ json, origin: item }})))];"
    );
    Translation::exact([line]).partial(Sentence::Option("csv"))
}

fn sort(node: &Node<'_>) -> Translation {
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

fn batch(node: &Node<'_>) -> Translation {
    if node.text("mode") != "count" && !node.text("mode").is_empty() {
        return Translation::unsupported(Sentence::Option("mode"));
    }
    let (count, overlap) =
        (node.number("count").unwrap_or(10.0).max(1.0), node.number("overlap").unwrap_or(0.0).max(0.0));
    Translation::exact([format!("return [batched(items, {count}, {overlap})];")])
}

fn delay(node: &Node<'_>) -> Translation {
    let factor = |unit: &str| match node.text(unit) {
        "milliseconds" | "millisecond" => 1.0,
        "minutes" | "minute" => 60_000.0,
        "hours" | "hour" => 3_600_000.0,
        "days" | "day" => 86_400_000.0,
        _ => 1000.0,
    };
    match node.text("pauseType") {
        "" | "delay" => {
            let wait = node.number("timeout").unwrap_or(5.0) * factor("timeoutUnits");
            Translation::exact([format!("await sleep({wait}, flow);"), "return [items];".to_owned()])
                .partial(Sentence::Sleep)
        }
        _ => Translation::exact(["return [items];"]).partial(Sentence::Option("rate")),
    }
}

fn http_request(node: &Node<'_>) -> Translation {
    let method = match node.text("method") {
        "use" => return Translation::unsupported(Sentence::Option("method")),
        "" => "GET".to_owned(),
        method => method.to_ascii_uppercase(),
    };
    let url = node.text("url");
    let address = if url.is_empty() {
        "msg.url".to_owned()
    } else {
        format!("mustache({}, msg, false)", javascript::string(url))
    };
    let host = literal_host(url);
    let mut headers: Vec<String> = Vec::new();
    let mut was_secret = false;
    for header in node.list("headers") {
        let text = |name: &str| header.get(name).and_then(Value::as_str).unwrap_or_default();
        let name = if text("keyType") == "other" || text("keyType").is_empty() {
            text("keyValue")
        } else {
            text("keyType")
        };
        if text("valueValue").contains(REMOVED) {
            was_secret = true;
            continue;
        }
        headers.push(format!(
            "{}: {}",
            javascript::key(name),
            node.typed(text("valueValue"), if text("valueType") == "msg" { "msg" } else { "str" })
        ));
    }
    let needs = !node.text("authType").is_empty() || was_secret;
    let mut members = vec![
        format!("method: '{method}'"),
        format!("url: {address}"),
        format!("headers: {{ ...msg.headers, {} }}", headers.join(", "))
            .replace(", }", " }")
            .replace("{  }", "{}"),
    ];
    if method != "GET" {
        members.push("...typeof msg.payload === 'string' ? { body: msg.payload, type: 'text/plain' } : { json: msg.payload }".to_owned());
    }
    members.extend(["full: true".to_owned(), "accept: 'any'".to_owned()]);
    if node.text("ret") != "obj" {
        members.push("as: 'text'".to_owned());
    }
    if needs {
        members.insert(0, format!("via: {CONNECTION}"));
    }
    let lines = [
        "const output = [];".to_owned(),
        "for (const item of items) {".to_owned(),
        "  const msg = structuredClone(item.json);".to_owned(),
        format!("  const [answer] = await request({{ {} }});", members.join(", ")),
        "  output.push({ json: { ...msg, payload: answer.json.body, statusCode: answer.json.statusCode, headers: answer.json.headers }, origin: item });".to_owned(),
        "}".to_owned(),
        "return [output];".to_owned(),
    ];
    let translation = Translation::exact(lines);
    let translation =
        if node.text("ret") == "bin" { translation.partial(Sentence::Files) } else { translation };
    if needs {
        let base = host.as_ref().map(|host| format!("https://{host}"));
        let need = Need {
            credential: format!("http|{}", base.clone().unwrap_or_else(|| node.id.clone())),
            connector: None,
            name: host.unwrap_or_else(|| node.name.clone()),
            base_url: base,
            methods: BTreeSet::from([method]),
        };
        return translation.with_connection(need);
    }
    translation.with_host_of(url, &method)
}
