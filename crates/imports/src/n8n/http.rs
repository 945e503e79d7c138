//! The HTTP Request node.

use serde_json::Value;

use super::{
    node::Node,
    own_headers::{literal_headers, own_headers, proves},
    services,
};
use crate::{
    Sentence, hosts, javascript,
    workflow::{CONNECTION, Translation},
};

pub(super) fn translate(node: &Node<'_>) -> Option<Translation> {
    match node.kind {
        "httpRequest" => Some(http_request(node)),
        "rssFeedRead" => Some(feed(node)),
        _ => None,
    }
}

fn feed(node: &Node<'_>) -> Translation {
    let url = node.code_or("url", "''");
    let lines = [
        "const output = [];".to_owned(),
        "for (const [index, item] of items.entries()) {".to_owned(),
        format!("  for (const json of await feedItems({url})) output.push({{ json, origin: item }});"),
        "}".to_owned(),
        "return [output];".to_owned(),
    ];
    host(node, "url", "GET", Translation::exact(lines)).partial(Sentence::Option("options"))
}

/// Permits the host of a parameter that is a URL, or an expression that begins with a literal one.
fn host(node: &Node<'_>, path: &str, method: &str, translation: Translation) -> Translation {
    let text = node.get(path).and_then(Value::as_str).unwrap_or_default();
    translation.with_host_of(text.strip_prefix('=').unwrap_or(text), method)
}

/// Returns the host of a parameter that is a URL, or an expression that begins with a literal one.
fn literal_host(text: &str) -> Option<String> {
    hosts::literal_host(text.strip_prefix('=').unwrap_or(text))
}

/// Returns `https://host` of a URL whose host is literal.
fn origin(text: &str) -> Option<String> {
    literal_host(text).map(|host| format!("https://{host}"))
}

/// Returns a list of names and values as an object.
fn pairs(node: &Node<'_>, list: &[Value]) -> Option<String> {
    let members: Vec<String> = list
        .iter()
        .filter_map(|pair| {
            let name = pair.get("name").filter(|name| name.as_str() != Some(""))?;
            let value = pair.get("value").map_or_else(|| "''".to_owned(), |value| node.value_code(value));
            Some(match name.as_str() {
                Some(name) if !name.starts_with('=') => format!("{}: {value}", javascript::key(name)),
                _ => format!("[{}]: {value}", node.value_code(name)),
            })
        })
        .collect();
    (!members.is_empty()).then(|| format!("{{ {} }}", members.join(", ")))
}

fn http_request(node: &Node<'_>) -> Translation {
    let is_modern = node.version >= 3.0;
    let method =
        node.text(if is_modern { "method" } else { "requestMethod" }).unwrap_or("GET").to_ascii_uppercase();
    if !hosts::METHODS.contains(&method.as_str()) {
        return Translation::unsupported(Sentence::Option("method"));
    }
    let url_text = node.get("url").and_then(Value::as_str).unwrap_or_default();
    let mut call = vec![format!("method: '{method}'"), format!("url: {}", node.code_or("url", "''"))];
    let mut reasons = Vec::new();
    let (mut query, mut headers, body) =
        if is_modern { modern(node, &method, &mut reasons) } else { classic(node, &mut reasons) };
    let list = |modern: &str, classic: &str| node.list(if is_modern { modern } else { classic });
    let header_list = list("headerParameters.parameters", "headerParametersUi.parameter");
    let literal = literal_headers(node, is_modern);
    let header_list = literal.as_deref().unwrap_or(header_list);
    let query_list = list("queryParameters.parameters", "queryParametersUi.parameter");
    // A secret in a header or the query becomes the connection's.
    let was_secret = proves(header_list) || proves(query_list);
    if was_secret {
        let others = |list: &[Value]| -> Vec<Value> {
            list.iter().filter(|pair| !proves(std::slice::from_ref(pair))).cloned().collect()
        };
        headers = pairs(node, &others(header_list));
        query = pairs(node, &others(query_list));
    }
    let needs = node.has_credentials() && authenticates(node) || was_secret;
    let own = own_headers(node, is_modern, header_list, literal.is_none());
    if !own.unsent(needs).is_empty() {
        reasons.push(Sentence::HeadersNotSent(own.unsent(needs).join(", ")));
        if !own.in_text {
            let sent = header_list
                .iter()
                .filter(|pair| !proves(std::slice::from_ref(pair)) && own.sends(pair, needs));
            headers = pairs(node, &sent.cloned().collect::<Vec<_>>());
        }
    }
    if method == "GET" && !body.is_empty() {
        reasons.push(Sentence::BodyNotSent);
    }
    call.extend(query.map(|query| format!("query: {query}")));
    call.extend(headers.map(|headers| format!("headers: {headers}")));
    call.extend(body);
    let options = if is_modern { "options.response.response" } else { "options" };
    let format = node.text(&format!("{options}.responseFormat")).or_else(|| node.text("responseFormat"));
    match format {
        Some("file") => {
            call.push(format!(
                "as: 'file', into: {}",
                node.code_or(
                    &format!("{options}.outputPropertyName"),
                    &node.code_or("dataPropertyName", "'data'")
                )
            ));
            reasons.push(Sentence::Files);
        }
        Some("text" | "string") => {
            call.push(format!(
                "as: 'text', into: {}",
                node.code_or(
                    &format!("{options}.outputPropertyName"),
                    &node.code_or("dataPropertyName", "'data'")
                )
            ));
        }
        Some("json") if is_modern => call.push("as: 'json'".to_owned()),
        _ => {}
    }
    if node.flag(&format!("{options}.fullResponse"), false) {
        // A text has the name of its own.
        if !call.iter().any(|member| member.contains("into: ")) {
            call.push("into: 'data'".to_owned());
        }
        call.push("full: true".to_owned());
    }
    if node.flag(&format!("{options}.neverError"), false) || node.flag("options.ignoreResponseCode", false) {
        call.push("accept: 'any'".to_owned());
    }
    if node.has_option("options.pagination") {
        reasons.push(Sentence::Pagination);
    }
    for (path, name) in [
        ("options.proxy", "proxy"),
        ("allowUnauthorizedCerts", "allowUnauthorizedCerts"),
        ("options.allowUnauthorizedCerts", "allowUnauthorizedCerts"),
    ] {
        if node.has_option(path) {
            reasons.push(Sentence::Option(name));
        }
    }
    let connector = services::connector_of(node.credential_kind());
    if needs {
        call.insert(0, format!("via: {CONNECTION}"));
        if let Some(base) = connector.and_then(services::base_url) {
            call.push(format!("base: {}", javascript::string(base)));
        }
    }
    let mut lines =
        vec!["const output = [];".to_owned(), "for (const [index, item] of items.entries()) {".to_owned()];
    lines.push("  const answer = await request({".to_owned());
    lines.extend(call.into_iter().map(|member| format!("    {member},")));
    lines.extend([
        "  });".to_owned(),
        "  output.push(...answer.map((answer) => ({ ...answer, origin: item })));".to_owned(),
        "}".to_owned(),
        "return [output];".to_owned(),
    ]);
    let mut translation = Translation::exact(lines);
    if needs {
        let base = connector.is_none().then(|| origin(url_text)).flatten();
        let service = literal_host(url_text).unwrap_or_else(|| node.name.clone());
        if connector.is_none() && base.is_none() {
            translation.lower(Sentence::DynamicHost);
        }
        let mut need = node.need(connector, service, base);
        need.methods.insert(method);
        translation = translation.with_connection(need);
    } else {
        translation = host(node, "url", &method, translation);
        let url = url_text.strip_prefix('=').unwrap_or(url_text);
        for header in own.credentials {
            translation = translation.with_credential_header(url, header);
        }
    }
    reasons.into_iter().fold(translation, Translation::partial)
}

/// Returns `true` if the node uses the credentials that it has.
fn authenticates(node: &Node<'_>) -> bool {
    match node.text("authentication") {
        Some("none") => false,
        Some(_) => true,
        // Before version 3, an authentication that is not named is none, whatever was chosen before.
        None => {
            node.version < 2.0
                && node
                    .value
                    .get("credentials")
                    .is_some_and(|credentials| credentials.as_object().is_some_and(|it| !it.is_empty()))
        }
    }
}

type Parts = (Option<String>, Option<String>, Vec<String>);

fn modern(node: &Node<'_>, method: &str, reasons: &mut Vec<Sentence>) -> Parts {
    let part = |send: &str, specify: &str, json: &str, list: &str| {
        if !node.flag(send, false) {
            return None;
        }
        if node.text(specify) == Some("json") {
            Some(format!("parsed({})", node.code_or(json, "{}")))
        } else {
            pairs(node, node.list(list))
        }
    };
    let query = part("sendQuery", "specifyQuery", "jsonQuery", "queryParameters.parameters");
    let headers = part("sendHeaders", "specifyHeaders", "jsonHeaders", "headerParameters.parameters");
    let mut body = Vec::new();
    if node.flag("sendBody", false) {
        let content = match (method, node.text("contentType").unwrap_or("json")) {
            // The original makes JSON of a form that a DELETE has.
            ("DELETE", "form-urlencoded") => "fields",
            ("DELETE", "multipart-form-data") if node.version < 4.2 => "fields",
            ("DELETE", "raw") => "none",
            (_, content) => content,
        };
        match content {
            "fields" => {
                let members = pairs(node, node.list("bodyParameters.parameters"));
                body.push(format!("json: {}", members.unwrap_or_else(|| "{}".to_owned())));
            }
            // And sends the type of another body without the body.
            "none" => {
                node.get("body");
                body.push(format!("type: {}", node.code_or("rawContentType", "'text/plain'")));
            }
            "json" => body.push(if node.text("specifyBody") == Some("json") {
                format!("json: parsed({})", node.code_or("jsonBody", "{}"))
            } else {
                let list = node.list("bodyParameters.parameters");
                let members = pairs(node, list).unwrap_or_else(|| "{}".to_owned());
                let is_path = |pair: &Value| {
                    pair.get("name")
                        .and_then(Value::as_str)
                        .is_some_and(|name| name.contains(['.', '[', '=']))
                };
                if node.version >= 4.0 && list.iter().any(is_path) {
                    format!("json: nested({members})")
                } else {
                    format!("json: {members}")
                }
            }),
            "form-urlencoded" => body.push(if node.text("specifyBody") == Some("string") {
                format!("body: {}, type: 'application/x-www-form-urlencoded'", node.code_or("body", "''"))
            } else {
                format!(
                    "form: {}",
                    pairs(node, node.list("bodyParameters.parameters")).unwrap_or_else(|| "{}".to_owned())
                )
            }),
            "raw" => body.push(format!(
                "body: {}, type: {}",
                node.code_or("body", "''"),
                node.code_or("rawContentType", "'text/plain'")
            )),
            "multipart-form-data" => {
                let list = node.list("bodyParameters.parameters");
                let has_file = |pair: &Value| {
                    pair.get("parameterType").and_then(Value::as_str) == Some("formBinaryData")
                };
                if list.iter().any(has_file) {
                    reasons.push(Sentence::Files);
                }
                let fields: Vec<Value> = list.iter().filter(|pair| !has_file(pair)).cloned().collect();
                body.push(format!("multipart: {}", pairs(node, &fields).unwrap_or_else(|| "{}".to_owned())));
            }
            _ => reasons.push(Sentence::Files),
        }
    }
    (query, headers, body)
}

fn classic(node: &Node<'_>, reasons: &mut Vec<Sentence>) -> Parts {
    let is_json = node.flag("jsonParameters", false);
    let part = |json: &str, list: &str| {
        if is_json {
            node.get(json)
                .filter(|value| value.as_str() != Some(""))
                .map(|value| format!("parsed({})", node.value_code(value)))
        } else {
            pairs(node, node.list(list))
        }
    };
    let query = part("queryParametersJson", "queryParametersUi.parameter");
    let headers = part("headerParametersJson", "headerParametersUi.parameter");
    let mut body = Vec::new();
    if let Some(members) = part("bodyParametersJson", "bodyParametersUi.parameter") {
        body.push(match node.text("options.bodyContentType") {
            Some("form-urlencoded") => format!("form: {members}"),
            Some("multipart-form-data") => format!("multipart: {members}"),
            _ => format!("json: {members}"),
        });
    }
    if node.flag("sendBinaryData", false) {
        reasons.push(Sentence::Files);
    }
    (query, headers, body)
}
