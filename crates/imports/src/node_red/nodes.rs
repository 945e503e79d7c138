//! The nodes of flows.

mod http;
mod rules;
mod sequences;

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::node::Node;
use crate::{
    Format, Grade, Sentence,
    bundle::given_names,
    code_names,
    cron::{self, Plan},
    javascript,
    workflow::{Start, Translation},
};

pub(super) use http::ask_for_headers_of_code;
use http::http_request;
use rules::{change, switch};
use sequences::{batch, join, sort, split, unescaped};

pub(super) fn translate(node: &Node<'_>) -> Translation {
    let mut translation = translate_kind(node);
    for reason in node.take_refused() {
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
        return scheduled(cron::parse(crontab), lines);
    }
    match node.number("repeat").filter(|seconds| *seconds > 0.0) {
        Some(seconds) => {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a positive number of seconds; a larger one saturates"
            )]
            let seconds = seconds as u64;
            scheduled(cron::every_seconds(seconds), lines)
        }
        None => Translation::start(Start::Manual, lines),
    }
}

fn scheduled(plan: Plan, lines: Vec<String>) -> Translation {
    let Some(cron) = plan.cron else { return Translation::lost_start(Sentence::Trigger) };
    let start = Translation::start(Start::Schedule(cron), lines);
    match plan.change {
        Some(change) => start.partial(Sentence::Schedule(change)),
        None => start,
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

fn function(node: &Node<'_>) -> Translation {
    static MISSING: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\brequire\b|\bBuffer\b|\bprocess\.|\bRED\.util\b|\bsetInterval\b|\bnode\.on\b").ok()
    });
    let source = node.text("func");
    let mut translation =
        Translation::exact([format!("return nodeFunction(CODE, items, flow, {});", node.outputs())])
            .partial(Sentence::Code);
    translation.code = Some(source.to_owned());
    let undeclared = code_names::undeclared_names(source, given_names(Format::NodeRed));
    if !undeclared.is_empty() {
        translation.lower(Sentence::DeclaredNames(undeclared.join(", ")));
    }
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
