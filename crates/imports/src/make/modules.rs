//! The modules of a blueprint.

use serde_json::Value;

use super::{
    conditions::{filter, test_of},
    http::http,
    module::{Module, connector_of},
};
use crate::{
    Grade, Sentence, javascript,
    workflow::{CONNECTION, Start, Translation},
};

pub(super) fn translate(module: &Module<'_>) -> Translation {
    let mut translation = translate_kind(module);
    let filter = filter(module);
    if let Some(test) = filter
        && translation.runs
        && !translation.body.is_empty()
    {
        translation.body.insert(0, format!("items = items.filter((item) => {test});"));
    }
    if module.value.get("onerror").and_then(Value::as_array).is_some_and(|handlers| !handlers.is_empty()) {
        translation.lower(Sentence::ErrorOutput);
    }
    for refused in module.take_refused() {
        if translation.grade != Grade::Unsupported {
            translation.lower(Sentence::Expression(refused));
        }
    }
    translation
}

/// A function of a bundle that gives the members of the new one.
fn each(lines: impl IntoIterator<Item = String>) -> Translation {
    let mut body = vec!["return each(items, (item, index) => {".to_owned()];
    body.extend(lines.into_iter().map(|line| format!("  {line}")));
    body.push("});".to_owned());
    Translation::exact(body)
}

fn translate_kind(module: &Module<'_>) -> Translation {
    let code = |name: &str, default: &str| module.option_code(name).unwrap_or_else(|| default.to_owned());
    match module.kind {
        "gateway:CustomWebHook" | "webhook:customWebhook" => {
            Translation::start(Start::Webhook, ["return [[{ json: objectOf(flow.event.data) }]];"])
        }
        "gateway:CustomMailHook" => Translation::lost_start(Sentence::Trigger),
        "gateway:WebhookRespond" => {
            let mut response = Translation::unsupported(Sentence::NoResponse);
            response.body.push("return [items];".to_owned());
            response
        }
        "builtin:BasicScheduler" => Translation::start(Start::Manual, ["return [[{ json: {} }]];"])
            .partial(Sentence::Option("schedule")),
        "builtin:BasicRouter" => {
            let routes = module.get("routes").and_then(Value::as_array).map_or(1, Vec::len).clamp(1, 100);
            let outputs = vec!["items"; routes];
            Translation::exact([format!("return [{}];", outputs.join(", "))])
        }
        "builtin:BasicIfElse" => if_else(module),
        "builtin:BasicMerge" => merge(module),
        "builtin:BasicFilter" => Translation::exact(["return [items];"]),
        "builtin:BasicFeeder" | "builtin:Iterator" => {
            let array = code("array", "[]");
            Translation::exact([format!(
                "return [items.flatMap((item) => iml.bundles({array}).map((json) => ({{ json, origin: item }})))];"
            )])
        }
        "builtin:BasicRepeater" => {
            let (start, step, repeats) = (code("start", "1"), code("step", "1"), code("repeats", "1"));
            Translation::exact([format!(
                "return [items.flatMap((item) => iml.repeat({start}, {step}, {repeats}).map((json) => ({{ json, origin: item }})))];"
            )])
        }
        "builtin:BasicAggregator"
        | "util:TextAggregator"
        | "util:FunctionAggregator2"
        | "util:FunctionAggregator"
        | "json:AggregateToJSON" => aggregator(module),
        "builtin:Noop" | "builtin:Placeholder" => Translation::ignored(Sentence::DoesNothing),
        "builtin:Sleep" | "util:FunctionSleep" => {
            let duration = module
                .option_code("duration")
                .or_else(|| module.option_code("delay"))
                .unwrap_or_else(|| "1".to_owned());
            Translation::exact_for_all([
                format!("await sleep(Number({duration}) * 1000, flow);"),
                "return [items];".to_owned(),
            ])
            .partial(Sentence::Sleep)
        }
        "json:ParseJSON" => each([format!("return objectOf(parsed({}));", code("json", "'{}'"))]),
        "json:CreateJSON" | "json:TransformToJSON" => {
            let value = module
                .option_code("object")
                .or_else(|| module.get("mapper").map(|mapper| module.code(mapper)));
            each([format!(
                "return {{ json: JSON.stringify({}) }};",
                value.unwrap_or_else(|| "{}".to_owned())
            )])
        }
        "util:ComposeTransformer" => each([format!("return {{ value: {} }};", code("value", "''"))]),
        "util:SetVariable2" | "util:SetVariable" => each([
            format!("const name = text({});", code("name", "''")),
            format!("const value = {};", code("value", "undefined")),
            "flow.variables.set(name, value);".to_owned(),
            "return { [name]: value };".to_owned(),
        ]),
        "util:SetVariables" => {
            let variables: Vec<String> = module
                .option("variables")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .map(|variable| {
                    let part = |name: &str| {
                        variable.get(name).map_or_else(|| "undefined".to_owned(), |value| module.code(value))
                    };
                    format!("[text({}), {}]", part("name"), part("value"))
                })
                .collect();
            each([
                format!("const variables = [{}];", variables.join(", ")),
                "for (const [name, value] of variables) flow.variables.set(name, value);".to_owned(),
                "return Object.fromEntries(variables);".to_owned(),
            ])
        }
        "util:GetVariable2" | "util:GetVariable" => each([
            format!("const name = text({});", code("name", "''")),
            "return { [name]: flow.variables.get(name) };".to_owned(),
        ]),
        "util:GetVariables" => each(["return Object.fromEntries(flow.variables);".to_owned()]),
        kind if kind.starts_with("http:") => http(module),
        "slack:CreateMessage" | "slack:createMessage" | "slack:ActionPostMessage" => service(
            module,
            "POST",
            "'/chat.postMessage'",
            &format!("{{ channel: {}, text: {} }}", code("channel", "undefined"), code("text", "''")),
        ),
        "telegram:SendMessage" | "telegram:sendMessage" | "telegram:SendReplyMessage" => service(
            module,
            "POST",
            "'/sendMessage'",
            &format!("{{ chat_id: {}, text: {} }}", code("chatId", "undefined"), code("text", "''")),
        ),
        "google-sheets:addRow" | "google-sheets:ActionAddRow" => {
            let path = format!(
                "`/v4/spreadsheets/${{encodeURIComponent(text({}))}}/values/${{encodeURIComponent(text({}))}}:append?valueInputOption=USER_ENTERED`",
                code("spreadsheetId", "''"),
                code("sheetId", "''")
            );
            service(module, "POST", &path, &format!("{{ values: [iml.row({})] }}", code("values", "{}")))
        }
        _ => other(module),
    }
}

/// A service without a translation.
fn other(module: &Module<'_>) -> Translation {
    let app = module.app();
    let connector = connector_of(app);
    let has_connection = module.value.get("parameters").is_some_and(|parameters| {
        ["__IMTCONN__", "account", "connection"].iter().any(|name| parameters.get(*name).is_some())
    });
    if connector.is_none() && !has_connection {
        return Translation::unsupported(Sentence::UnknownType);
    }
    let is_watch = module.inputs.is_empty()
        && module.kind.split(':').next_back().is_some_and(|action| {
            action.to_ascii_lowercase().contains("watch") || action.starts_with("Trigger")
        });
    let translation = if is_watch {
        Translation::lost_start(Sentence::PollingTrigger)
    } else {
        Translation::unsupported(Sentence::FillIn(app.to_owned()))
    };
    translation.with_connection(module.need(connector, app, None))
}

fn service(module: &Module<'_>, method: &str, url: &str, json: &str) -> Translation {
    let lines = [
        "const output = [];".to_owned(),
        "for (const [index, item] of items.entries()) {".to_owned(),
        format!(
            "  const answer = await request({{ via: {CONNECTION}, method: '{method}', url: {url}, json: {json} }});"
        ),
        "  output.push(...answer.map((answer) => ({ ...answer, origin: item })));".to_owned(),
        "}".to_owned(),
        "return [output];".to_owned(),
    ];
    let app = module.app();
    let mut need = module.need(connector_of(app), app, None);
    need.methods.insert(method.to_owned());
    Translation::exact(lines).partial(Sentence::UsualSettings).with_connection(need)
}

fn if_else(module: &Module<'_>) -> Translation {
    let mut lines = vec!["return divide(items, (item) => {".to_owned()];
    let branches = module.get("branches").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for (output, branch) in branches.iter().enumerate().take(100) {
        let test = branch.get("conditions").and_then(|conditions| test_of(module, conditions));
        lines.push(match test {
            Some(test) => format!("  if ({test}) return {output};"),
            None => format!("  return {output};"),
        });
        // What follows the branch without a condition is never reached.
        if branch.get("conditions").is_none() {
            break;
        }
    }
    if !lines.last().is_some_and(|line| line.starts_with("  return")) {
        lines.push("  return -1;".to_owned());
    }
    lines.push(format!("}}, {});", branches.len().clamp(1, 100)));
    Translation::exact(lines)
}

fn merge(module: &Module<'_>) -> Translation {
    let mut lines = Vec::new();
    for output in module.get("outputs").and_then(Value::as_array).into_iter().flatten() {
        let name = output.get("name").map_or_else(|| "''".to_owned(), |name| module.code(name));
        let values: Vec<String> = output
            .get("mappings")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .map(|value| module.code(value))
            .collect();
        lines.push(format!(
            "json[{name}] = [{}].find((value) => value !== undefined && value !== '');",
            values.join(", ")
        ));
    }
    lines.insert(0, "const json = {};".to_owned());
    lines.push("return json;".to_owned());
    // Each bundle came along one branch; the others have nothing of it.
    each(lines).partial(Sentence::Merge)
}

fn aggregator(module: &Module<'_>) -> Translation {
    let feeder = module
        .get("parameters.feeder")
        .map(ToString::to_string)
        .and_then(|id| module.names.get(id.trim_matches('"')).cloned());
    let feeder = feeder.map_or_else(|| "undefined".to_owned(), |name| javascript::string(&name));
    let empty = Value::Object(serde_json::Map::new());
    let mapper = module.value.get("mapper").unwrap_or(&empty);
    let (make, result) = match module.kind {
        "util:TextAggregator" => {
            let separator = match module.get("parameters.rowSeparator").and_then(Value::as_str) {
                Some("\\n" | "\n" | "newline") | None => "'\\n'".to_owned(),
                Some("other") => module
                    .get("parameters.otherRowSeparator")
                    .map_or_else(|| "''".to_owned(), |value| module.code(value)),
                Some("\\t") => "'\\t'".to_owned(),
                Some(other) => javascript::string(other),
            };
            (
                module.code(mapper.get("value").unwrap_or(&Value::Null)),
                format!("{{ text: values.map(text).join({separator}) }}"),
            )
        }
        "util:FunctionAggregator2" | "util:FunctionAggregator" => {
            let function = module
                .get("parameters.fn")
                .or_else(|| module.get("parameters.function"))
                .and_then(Value::as_str)
                .unwrap_or("sum");
            let known = ["sum", "average", "max", "min", "count"].into_iter().find(|known| {
                function.eq_ignore_ascii_case(known) || function == "avg" && *known == "average"
            });
            let Some(function) = known else { return Translation::unsupported(Sentence::Option("function")) };
            let result = if function == "count" {
                "{ result: values.length }".to_owned()
            } else {
                format!("{{ result: iml.{function}(values) }}")
            };
            (module.code(mapper.get("value").unwrap_or(&Value::Null)), result)
        }
        "json:AggregateToJSON" => (module.code(mapper), "{ json: JSON.stringify(values) }".to_owned()),
        _ => {
            let make = if mapper.as_object().is_none_or(serde_json::Map::is_empty) {
                "item.json".to_owned()
            } else {
                module.code(mapper)
            };
            (make, "{ array: values, __IMTAGGLENGTH__: values.length }".to_owned())
        }
    };
    let translation = Translation::exact([
        format!("const valueOf = (item, index) => ({make});"),
        format!("return [iml.groups(items, flow, {feeder}).map((group) => {{"),
        "  const values = group.map(valueOf);".to_owned(),
        format!("  return {{ json: {result}, origin: group[0]?.origin ?? group[0] }};"),
        "})];".to_owned(),
    ]);
    let groups = module.get("parameters.groupBy").and_then(Value::as_str).is_some_and(|by| !by.is_empty());
    if groups { translation.partial(Sentence::Option("groupBy")) } else { translation }
}
