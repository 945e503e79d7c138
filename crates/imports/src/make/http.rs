//! Modules that send requests.

use serde_json::Value;

use super::module::Module;
use crate::{
    Sentence,
    headers::{self, HeaderKind},
    hosts::{METHODS, literal_host},
    javascript,
    secrets::REMOVED,
    workflow::{CONNECTION, Translation},
};

pub(super) fn http(module: &Module<'_>) -> Translation {
    let action = module.kind.split(':').next_back().unwrap_or_default();
    let lower = action.to_ascii_lowercase();
    let default = if lower.contains("getfile") { "GET" } else { "get" };
    let method = module.plain("method").unwrap_or(default).to_ascii_uppercase();
    if !METHODS.contains(&method.as_str()) {
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
    let is_authenticated = is_authenticated(module, &lower);
    let (mut credentials, mut unsent) = (Vec::new(), Vec::new());
    let mut pairs = |list: &Value, are_headers: bool| -> String {
        let mut members = Vec::new();
        for pair in list.as_array().into_iter().flatten() {
            let part = |names: [&str; 2]| names.iter().find_map(|name| pair.get(*name));
            let (Some(name), value) = (part(["name", "key"]), part(["value", "value"])) else { continue };
            if value.and_then(Value::as_str).is_some_and(|value| value.contains(REMOVED)) {
                was_secret = true;
                continue;
            }
            if are_headers && let Some(name) = name.as_str() {
                match headers::kind_of(name) {
                    // A connection brings its own.
                    HeaderKind::Credential(header) if !is_authenticated => credentials.push(header),
                    HeaderKind::Credential(_) | HeaderKind::Refused => {
                        unsent.push(name.to_owned());
                        continue;
                    }
                    HeaderKind::Plain => {}
                }
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
        call.push(format!("headers: {}", pairs(headers, true)));
    }
    if let Some(query) = list(&["qs", "queryParameters"]) {
        call.push(format!("query: {}", pairs(query, false)));
    }
    if method != "GET" {
        let body = ["data", "jsonStringBodyContent", "rawBodyContent", "body", "requestContent"]
            .iter()
            .find_map(|name| module.option_code(name));
        let content = module.plain("contentType").or_else(|| module.plain("bodyType")).unwrap_or("raw");
        if let Some(fields) = list(&["formDataFields", "formFields", "fields", "bodyFields"]) {
            let kind = if content.contains("multipart") { "multipart" } else { "form" };
            call.push(format!("{kind}: {}", pairs(fields, false)));
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
    if !unsent.is_empty() {
        reasons.push(Sentence::HeadersNotSent(unsent.join(", ")));
    }
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
        for header in credentials {
            translation = translation.with_credential_header(url, header);
        }
    }
    reasons.into_iter().fold(translation, Translation::partial)
}

/// Returns `true` if the module proves who asks by credentials of its own.
fn is_authenticated(module: &Module<'_>, action: &str) -> bool {
    let has_login = ["authUser", "authPass"]
        .iter()
        .any(|name| module.option(name).and_then(Value::as_str).is_some_and(|text| !text.is_empty()));
    action.contains("auth")
        || has_login
        || module.plain("authenticationType").is_some_and(|kind| kind != "noAuth")
        || module.value.pointer("/parameters/__IMTCONN__").is_some()
}
