//! The node that sends requests.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::node::Node;
use crate::{
    Grade, Sentence,
    headers::{self, HeaderKind},
    hosts::{METHODS, literal_host},
    javascript,
    secrets::REMOVED,
    workflow::{CONNECTION, Need, Step, Translation},
};

pub(super) fn http_request(node: &Node<'_>) -> Translation {
    let method = match node.text("method") {
        "use" => return Translation::unsupported(Sentence::Option("method")),
        "" => "GET".to_owned(),
        method => method.to_ascii_uppercase(),
    };
    if !METHODS.contains(&method.as_str()) {
        return Translation::unsupported(Sentence::Option("method"));
    }
    let url = node.text("url");
    let address = if url.is_empty() {
        "msg.url".to_owned()
    } else {
        format!("mustache({}, msg, false)", javascript::string(url))
    };
    let host = literal_host(url);
    let mut members_of_headers: Vec<String> = vec!["...ownHeaders(msg.headers)".to_owned()];
    let mut was_secret = false;
    let (mut credentials, mut unsent) = (Vec::new(), Vec::new());
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
        match headers::kind_of(name) {
            // A connection brings its own.
            HeaderKind::Credential(header) if node.text("authType").is_empty() => credentials.push(header),
            HeaderKind::Credential(_) | HeaderKind::Refused => {
                unsent.push(name.to_owned());
                continue;
            }
            HeaderKind::Plain => {}
        }
        members_of_headers.push(format!(
            "{}: {}",
            javascript::key(name),
            node.typed(text("valueValue"), if text("valueType") == "msg" { "msg" } else { "str" })
        ));
    }
    let needs = !node.text("authType").is_empty() || was_secret;
    let mut members = vec![
        format!("method: '{method}'"),
        format!("url: {address}"),
        format!("headers: {{ {} }}", members_of_headers.join(", ")),
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
        "  output.push({ json: { ...msg, payload: answer.json.body, statusCode: answer.json.statusCode, headers: answeredHeaders(answer.json.headers) }, origin: item });".to_owned(),
        "}".to_owned(),
        "return [output];".to_owned(),
    ];
    let translation = Translation::exact(lines);
    let translation =
        if node.text("ret") == "bin" { translation.partial(Sentence::Files) } else { translation };
    let translation = if unsent.is_empty() {
        translation
    } else {
        translation.partial(Sentence::HeadersNotSent(unsent.join(", ")))
    };
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
    let translation = translation.with_host_of(url, &method);
    credentials.into_iter().fold(translation, |it, header| it.with_credential_header(url, header))
}

/// Asks for the headers with credentials that code before a request may put into its message.
pub(in crate::node_red) fn ask_for_headers_of_code(steps: &mut [Step]) {
    let texts = |step: &Step| {
        let written = step.translation.code.iter().chain(&step.translation.body);
        written.flat_map(|text| headers::credentials_in(text)).collect::<Vec<_>>()
    };
    let is_request = |step: &Step| step.kind == "http request";
    let named: BTreeSet<&'static str> =
        steps.iter().filter(|step| !is_request(step)).flat_map(texts).collect();
    for step in
        steps.iter_mut().filter(|step| is_request(step) && step.translation.grade != Grade::Unsupported)
    {
        let hosts: BTreeSet<String> = step.translation.hosts.iter().map(|(host, _)| host.clone()).collect();
        for host in hosts {
            step.translation.headers.extend(named.iter().map(|header| (host.clone(), *header)));
        }
    }
}
