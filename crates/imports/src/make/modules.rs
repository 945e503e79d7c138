//! The modules of a blueprint.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::Value;

use super::iml;
use crate::{
    Grade, Sentence,
    hosts::literal_host,
    javascript,
    secrets::REMOVED,
    workflow::{CONNECTION, Link, Need, Start, Translation},
};

/// A module.
pub(super) struct Module<'a> {
    pub(super) value: &'a Value,
    /// Id, by which expressions refer to it.
    pub(super) id: String,
    pub(super) name: String,
    /// Type, such as `http:ActionSendData`.
    pub(super) kind: &'a str,
    pub(super) notes: &'a str,
    pub(super) place: Vec<String>,
    pub(super) inputs: Vec<Link>,
    /// Whether it follows a failure.
    pub(super) handles_errors: bool,
    /// Names of modules by id.
    pub(super) names: BTreeMap<String, String>,
    refused: RefCell<Vec<String>>,
}

impl<'a> Module<'a> {
    pub(super) fn read(value: &'a Value, place: Vec<String>, index: usize) -> Option<Self> {
        let kind = value.get("module").and_then(Value::as_str)?;
        let id = match value.get("id") {
            Some(Value::Number(id)) => id.to_string(),
            Some(Value::String(id)) if !id.is_empty() && id.len() <= 64 => id.clone(),
            _ => format!("module-{index}"),
        };
        let given = value
            .pointer("/metadata/designer/name")
            .and_then(Value::as_str)
            .filter(|name| !name.trim().is_empty());
        let action = kind
            .split(':')
            .next_back()
            .unwrap_or(kind)
            .trim_start_matches("Action")
            .trim_start_matches("Basic");
        let app = kind.split(':').next().unwrap_or_default();
        let name = given.map_or_else(|| format!("{app} {action} {id}"), str::to_owned);
        Some(Self {
            value,
            id,
            name,
            kind,
            notes: value
                .pointer("/metadata/designer/notes/0/content")
                .and_then(Value::as_str)
                .unwrap_or_default(),
            place,
            inputs: Vec::new(),
            handles_errors: false,
            names: BTreeMap::new(),
            refused: RefCell::default(),
        })
    }

    fn get(&self, path: &str) -> Option<&'a Value> {
        let mut value = self.value;
        for part in path.split('.') {
            value = value.get(part)?;
        }
        Some(value)
    }

    /// Returns a member of the mapper, or of the parameters.
    fn option(&self, name: &str) -> Option<&'a Value> {
        let in_mapper = self.value.get("mapper").and_then(|mapper| mapper.get(name));
        in_mapper.or_else(|| self.value.get("parameters").and_then(|parameters| parameters.get(name)))
    }

    fn plain(&self, name: &str) -> Option<&'a str> {
        self.option(name).and_then(Value::as_str).filter(|text| !text.contains("{{"))
    }

    fn code(&self, value: &Value) -> String {
        match value {
            Value::String(text) => {
                let step = |id: &str| self.names.get(id).cloned();
                iml::translate(text, &step).unwrap_or_else(|refused| {
                    let mut list = self.refused.borrow_mut();
                    if list.len() < 3 && !list.contains(&refused.0) {
                        list.push(refused.0);
                    }
                    format!("notTranslated({})", javascript::string(text))
                })
            }
            Value::Array(values) => {
                format!("[{}]", values.iter().map(|value| self.code(value)).collect::<Vec<_>>().join(", "))
            }
            Value::Object(members) if members.is_empty() => "{}".to_owned(),
            Value::Object(members) => {
                let members: Vec<String> = members
                    .iter()
                    .map(|(name, value)| format!("{}: {}", javascript::key(name), self.code(value)))
                    .collect();
                format!("{{ {} }}", members.join(", "))
            }
            other => javascript::literal(other),
        }
    }

    fn option_code(&self, name: &str) -> Option<String> {
        self.option(name).filter(|value| !value.is_null()).map(|value| self.code(value))
    }

    fn app(&self) -> &'a str {
        self.kind.split(':').next().unwrap_or_default()
    }

    fn need(&self, connector: Option<&str>, name: &str, base_url: Option<String>) -> Need {
        let parameters = self.value.get("parameters");
        let connection =
            ["__IMTCONN__", "account", "connection"].iter().find_map(|name| parameters?.get(*name));
        let credential = connection.map(ToString::to_string).unwrap_or_default();
        let label =
            self.value.pointer("/metadata/restore/parameters/__IMTCONN__/label").and_then(Value::as_str);
        Need {
            credential: format!("{}|{credential}|{}", self.app(), base_url.as_deref().unwrap_or_default()),
            connector: connector.map(str::to_owned),
            name: label.unwrap_or(name).to_owned(),
            base_url,
            methods: BTreeSet::new(),
        }
    }
}

/// Connectors of the catalogue by the app of a module.
fn connector_of(app: &str) -> Option<&'static str> {
    Some(match app {
        "airtable" => "airtable",
        "discord" => "discord",
        "freshdesk" => "freshdesk",
        "github" => "github",
        "gitlab" => "gitlab",
        "google-email" => "gmail",
        "google-calendar" => "google_calendar",
        "google-drive" => "google_drive",
        "google-sheets" => "google_sheets",
        "hubspotcrm" | "hubspot" => "hubspot",
        "jira" | "jira-cloud-platform" => "jira",
        "linear" => "linear",
        "mailgun" => "mailgun",
        "microsoft-email" | "microsoft-teams" | "onedrive" | "microsoft-excel" => "microsoft_graph",
        "notion" => "notion",
        "paypal" => "paypal",
        "pipedrive" => "pipedrive",
        "resend" => "resend",
        "sendgrid" => "sendgrid",
        "sendinblue" => "brevo",
        "sentry" => "sentry",
        "shopify" => "shopify",
        "slack" => "slack",
        "stripe" => "stripe",
        "supabase" => "supabase",
        "telegram" => "telegram",
        "twilio" => "twilio",
        "whatsapp-business-cloud" => "whatsapp",
        "woocommerce" => "woocommerce",
        _ => return None,
    })
}

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
    for refused in module.refused.take() {
        if translation.grade != Grade::Unsupported {
            translation.lower(Sentence::Expression(refused));
        }
    }
    translation
}

fn filter(module: &Module<'_>) -> Option<String> {
    let conditions = module.get("filter.conditions")?;
    test_of(module, conditions)
}

/// Translates conditions: a list of alternatives, each a list of what must hold together.
fn test_of(module: &Module<'_>, conditions: &Value) -> Option<String> {
    let mut any = Vec::new();
    for alternative in conditions.as_array()? {
        let all: Vec<String> =
            alternative.as_array()?.iter().map(|condition| condition_of(module, condition)).collect();
        any.push(if all.is_empty() { "true".to_owned() } else { all.join(" && ") });
    }
    match any.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        _ => Some(any.iter().map(|all| format!("({all})")).collect::<Vec<_>>().join(" || ")),
    }
}

fn condition_of(module: &Module<'_>, condition: &Value) -> String {
    let side =
        |name: &str| condition.get(name).map_or_else(|| "undefined".to_owned(), |value| module.code(value));
    let operator = condition.get("o").and_then(Value::as_str).unwrap_or("exist");
    let (left, right) = (side("a"), side("b"));
    let mut parts = operator.split(':');
    let (kind, mut name, mut fold) =
        (parts.next().unwrap_or_default(), parts.next().unwrap_or_default(), parts.next());
    if name == "ci" {
        (name, fold) = ("", Some("ci"));
    }
    let test = match (kind, name) {
        ("exist", _) => "string:exists",
        ("notexist", _) => "string:notExists",
        ("text", "equal") => "string:equals",
        ("text", "notequal") => "string:notEquals",
        ("text", "contain") => "string:contains",
        ("text", "notcontain") => "string:notContains",
        ("text", "startwith") => "string:startsWith",
        ("text", "notstartwith") => "string:notStartsWith",
        ("text", "endwith") => "string:endsWith",
        ("text", "notendwith") => "string:notEndsWith",
        ("text", "pattern") => "string:regex",
        ("text", "notpattern") => "string:notRegex",
        ("number", "equal") => "number:equals",
        ("number", "notequal") => "number:notEquals",
        ("number", "greater") => "number:gt",
        ("number", "less") => "number:lt",
        ("number", "greaterorequal") => "number:gte",
        ("number", "lessorequal") => "number:lte",
        ("boolean", "equal") => "boolean:equals",
        ("boolean", "notequal") => "boolean:notEquals",
        ("date", "equal") => "dateTime:equals",
        ("date", "greater") => "dateTime:after",
        ("date", "less") => "dateTime:before",
        ("date", "greaterorequal") => "dateTime:afterOrEquals",
        ("date", "lessorequal") => "dateTime:beforeOrEquals",
        ("array", "contain") => "array:contains",
        ("array", "notcontain") => "array:notContains",
        ("array", "equal") => "array:lengthEquals",
        ("array", "greater") => "array:lengthGt",
        ("array", "less") => "array:lengthLt",
        _ => {
            module.refused.borrow_mut().push(operator.to_owned());
            return format!("notTranslated({})", javascript::string(operator));
        }
    };
    let ignores_case = if fold == Some("ci") { "ignoreCase: true, " } else { "" };
    format!("holds({left}, '{test}', {right}, {{ {ignores_case}loose: true }})")
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

fn http(module: &Module<'_>) -> Translation {
    let action = module.kind.split(':').next_back().unwrap_or_default();
    let lower = action.to_ascii_lowercase();
    let default = if lower.contains("getfile") { "GET" } else { "get" };
    let method = module.plain("method").unwrap_or(default).to_ascii_uppercase();
    if !["GET", "POST", "PUT", "PATCH", "DELETE"].contains(&method.as_str()) {
        return Translation::unsupported(Sentence::Option("method"));
    }
    let mut reasons = Vec::new();
    let url = module.option("url").and_then(Value::as_str).unwrap_or_default();
    let mut call = vec![
        format!("method: '{method}'"),
        format!("url: {}", module.option_code("url").unwrap_or_else(|| "''".to_owned())),
    ];
    let list = |names: &[&str]| {
        names.iter().find_map(|name| {
            module.option(name).filter(|value| value.as_array().is_some_and(|list| !list.is_empty()))
        })
    };
    let mut was_secret = false;
    let mut pairs = |list: &Value| -> String {
        let mut members = Vec::new();
        for pair in list.as_array().into_iter().flatten() {
            let part = |names: [&str; 2]| names.iter().find_map(|name| pair.get(*name));
            let (Some(name), value) = (part(["name", "key"]), part(["value", "value"])) else { continue };
            if value.and_then(Value::as_str).is_some_and(|value| value.contains(REMOVED)) {
                was_secret = true;
                continue;
            }
            members.push(format!(
                "[text({})]: {}",
                module.code(name),
                value.map_or_else(|| "''".to_owned(), |value| module.code(value))
            ));
        }
        format!("{{ {} }}", members.join(", "))
    };
    if let Some(headers) = list(&["headers"]) {
        call.push(format!("headers: {}", pairs(headers)));
    }
    if let Some(query) = list(&["qs", "queryParameters"]) {
        call.push(format!("query: {}", pairs(query)));
    }
    if method != "GET" {
        let body = ["data", "jsonStringBodyContent", "rawBodyContent", "body", "requestContent"]
            .iter()
            .find_map(|name| module.option_code(name));
        let content = module.plain("contentType").or_else(|| module.plain("bodyType")).unwrap_or("raw");
        if let Some(fields) = list(&["formDataFields", "formFields", "fields", "bodyFields"]) {
            let kind = if content.contains("multipart") { "multipart" } else { "form" };
            call.push(format!("{kind}: {}", pairs(fields)));
        } else if let Some(body) = body {
            let kind = match content {
                "json" | "application/json" => "'application/json'".to_owned(),
                "raw" | "custom" => "'application/json'".to_owned(),
                other if other.contains('/') => javascript::string(other),
                _ => "'text/plain'".to_owned(),
            };
            call.push(format!("body: {body}, type: {kind}"));
        }
    }
    let parses = module.option("parseResponse").and_then(Value::as_bool).unwrap_or(true);
    call.push("full: true".to_owned());
    if !parses {
        call.push("as: 'text'".to_owned());
    }
    if lower.contains("getfile") {
        reasons.push(Sentence::Files);
    }
    if module.option("handleErrors").and_then(Value::as_bool) == Some(false)
        || module.option("stopOnHttpError").and_then(Value::as_bool) == Some(false)
    {
        call.push("accept: 'any'".to_owned());
    }
    let has_login = ["authUser", "authPass"]
        .iter()
        .any(|name| module.option(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty()));
    let is_authenticated = lower.contains("auth")
        || has_login
        || module.plain("authenticationType").is_some_and(|kind| kind != "noAuth")
        || module.value.pointer("/parameters/__IMTCONN__").is_some();
    let needs = is_authenticated || was_secret;
    if needs {
        call.insert(0, format!("via: {CONNECTION}"));
    }
    let host = literal_host(url);
    let mut lines = vec![
        "const output = [];".to_owned(),
        "for (const [index, item] of items.entries()) {".to_owned(),
        "  const [answer] = await request({".to_owned(),
    ];
    lines.extend(call.into_iter().map(|member| format!("    {member},")));
    lines.extend([
        "  });".to_owned(),
        "  output.push({ json: { data: answer.json.body, statusCode: answer.json.statusCode, headers: answer.json.headers }, origin: item });".to_owned(),
        "}".to_owned(),
        "return [output];".to_owned(),
    ]);
    let mut translation = Translation::exact(lines);
    if needs {
        let base = host.as_ref().map(|host| format!("https://{host}"));
        let name = host.clone().unwrap_or_else(|| module.name.clone());
        if base.is_none() {
            translation.lower(Sentence::DynamicHost);
        }
        let mut need = module.need(None, &name, base);
        need.methods.insert(method);
        translation = translation.with_connection(need);
    } else {
        translation = translation.with_host_of(url, &method);
    }
    reasons.into_iter().fold(translation, Translation::partial)
}
