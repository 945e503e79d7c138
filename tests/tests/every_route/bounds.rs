//! Bounds of requests: what the description allows at its edge is taken, and what is one beyond is refused.

use anyhow::{Context as _, Result, ensure};
use http::Method;
use serde_json::{Value, json};
use tests::{Client, Reply, example};

use super::{Operation, Stage, bodies::Callers};

/// Members with rules beside their bounds, which no text of `a`s and no example obeys; the refusal of the value at the
/// bound names the other rule. One beyond the bound is refused as everywhere.
const OTHER_RULES: [(&str, &str); 18] = [
    ("/v1/apps/{id}/access /people", "names a person twice"),
    ("/trigger/", "`trigger."),
    ("/form/redirect", "`form.redirect` must be"),
    ("/form/allowedSites", "`form.allowedSites` must"),
    ("/settings /allowedOrigins", "must hold origins"),
    ("/settings /publicReadTables", "names a table that is not there"),
    ("/settings /identity/", "`identity"),
    ("/keys /scopes", "`scopes`"),
    ("/keys /tables", "`tables`"),
    ("/policy /rules", "a rule has one to four actions"),
    ("/policy /sentences", "a sentence is not understood"),
    ("/rest/_batch /operations", "needs a body"),
    ("/v1/workspaces /timezone", "must be an IANA time zone"),
    ("/transfer-ownership /confirmName", "must be the workspace's name"),
    ("/v1/auth/dev-login /email", "must be an e-mail address"),
    ("/v1/auth/email/start /email", "must be an e-mail address"),
    ("/v1/auth/email/verify /email", "must be an e-mail address"),
    ("/join-domain /domain", "must be a domain name"),
];

/// Operations that look at something else before the values of the body: at the thing, or at the code that the body proves
/// itself with. Their bounds are in the tests of what they are for.
const LOOKS_ELSEWHERE_FIRST: [&str; 8] = [
    "/v1/auth/email/link",
    "/v1/auth/email/verify",
    "/v1/auth/passkeys/register/finish",
    "/v1/auth/passkeys/sign-in/finish",
    "/v1/auth/passkeys/step-up/finish",
    "/v1/cli/device/{userCode}/approve",
    "/v1/oauth/authorizations/{id}/decision",
    "/v1/workspaces/{ws}/members/{userId}/transfer-ownership",
];

/// One bound of one member: where it is, and the values at it and beyond it.
#[derive(Debug)]
struct Bound {
    /// A JSON pointer into the body, or the name of a parameter in the query.
    at: String,
    keyword: &'static str,
    within: Value,
    beyond: Value,
}

/// The schema behind references and beside null.
fn resolved<'a>(document: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..8 {
        if let Some(target) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#')) {
            schema = document.pointer(target).unwrap_or(&Value::Null);
        } else if let Some(choices) = schema["oneOf"].as_array() {
            let mut some = choices.iter().filter(|choice| choice["type"] != "null");
            match (some.next(), some.next()) {
                (Some(one), None) => schema = one,
                _ => return schema,
            }
        } else {
            return schema;
        }
    }
    schema
}

/// The bounds that a schema sets, of members to any depth.
fn bounds(document: &Value, schema: &Value, at: &str, found: &mut Vec<Bound>) {
    let schema = resolved(document, schema);
    let mut add = |keyword, within, beyond| {
        found.push(Bound { at: at.to_owned(), keyword, within, beyond });
    };
    let number = |keyword: &str| schema[keyword].as_i64();
    let size = |keyword: &str| schema[keyword].as_u64().and_then(|size| usize::try_from(size).ok());
    if let Some(most) = number("maximum") {
        add("maximum", json!(most), json!(i128::from(most) + 1));
    }
    if let Some(least) = number("minimum") {
        add("minimum", json!(least), json!(i128::from(least) - 1));
    }
    // A text with a form of its own cannot be stretched.
    let free = ["pattern", "format", "enum"].iter().all(|keyword| schema.get(*keyword).is_none());
    if let Some(most) = size("maxLength").filter(|_| free) {
        add("maxLength", "a".repeat(most).into(), "a".repeat(most + 1).into());
    }
    if let Some(least) = size("minLength").filter(|least| free && *least > 0) {
        add("minLength", "a".repeat(least).into(), "a".repeat(least - 1).into());
    }
    let items = |count: usize| -> Value {
        let item = |index| match at {
            "/emails" => format!("guest{index}@example.test").into(),
            _ => distinct(document, &schema["items"], index),
        };
        (0..count).map(item).collect()
    };
    if let Some(most) = size("maxItems").filter(|most| *most <= 5000) {
        add("maxItems", items(most), items(most + 1));
    }
    if let Some(least) = size("minItems").filter(|least| *least > 0) {
        add("minItems", items(least), items(least - 1));
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        bounds(document, member, &format!("{at}/{name}"), found);
    }
}

/// Values of a schema that differ from each other where it allows that.
fn distinct(document: &Value, schema: &Value, index: usize) -> Value {
    let schema = resolved(document, schema);
    if let Some(choices) = schema["enum"].as_array() {
        return choices[index % choices.len()].clone();
    }
    match example(document, schema) {
        Value::String(text) if schema["format"] == "email" => format!("a{index}{text}").into(),
        Value::String(text) if schema.get("pattern").is_none() => format!("{text}{index}").into(),
        value => value,
    }
}

/// The body with a value at a pointer; members on the way are made of their schemas.
fn with(document: &Value, schema: &Value, body: &Value, at: &str, value: &Value) -> Value {
    let Some((name, rest)) = at.strip_prefix('/').map(|at| at.split_once('/').unwrap_or((at, ""))) else {
        return value.clone();
    };
    let schema = resolved(document, schema);
    let mut body = if body.is_object() { body.clone() } else { example(document, schema) };
    let rest = if rest.is_empty() { String::new() } else { format!("/{rest}") };
    let inner = with(document, &schema["properties"][name], &body[name], &rest, value);
    if let Some(members) = body.as_object_mut() {
        members.insert(name.to_owned(), inner);
    }
    body
}

fn message(reply: &Reply) -> String {
    reply.json::<Value>().map_or_else(|_| reply.to_string(), |body| body["error"]["message"].to_string())
}

tests::on_both! {
    args: ["--no-rate-limits"];

    async fn bounds_are_where_the_description_says(server: Server) -> Result<()> {
        let stage = Stage::set(&server).await?;
        let document: Value = server.client().get("/openapi.json").await?.json()?;
        let callers = Callers::of(&stage).await?;
        let (mut surprises, mut tried) = (Vec::new(), 0);
        let mut operations: Vec<_> = stage.operations.iter().collect();
        // Last: at their bounds they leave hardly anything of a project.
        operations.sort_by_key(|operation| operation.path.ends_with("/settings"));
        for operation in operations {
            let path = stage.things.path(&operation.path)?;
            let operation = &with_things(&stage, operation)?;
            for (bound, within, beyond) in requests(&document, operation, &path)? {
                let caller = callers.one(operation);
                tried += 1;
                if let Err(surprise) = compare(caller, operation, &bound, &within, &beyond).await {
                    surprises.push(format!("{operation} {}: {}: {surprise:#}", bound.at, bound.keyword));
                }
            }
        }
        ensure!(tried > 150, "only {tried} bounds");
        ensure!(surprises.is_empty(), "{} of {tried} bounds:\n{}", surprises.len(), surprises.join("\n"));
        Ok(())
    }
}

/// The operation with a body that names what is there, where the smallest one that is valid names nothing.
fn with_things(stage: &Stage, operation: &Operation) -> Result<Operation> {
    let mut body = operation.body.clone();
    let mut set = |name: &str, value: Value| {
        if let Some(Value::Object(members)) = &mut body {
            members.insert(name.to_owned(), value);
        }
    };
    match operation.path.as_str() {
        "/v1/workspaces/{ws}/automations" => {
            set("appId", stage.workspace.sample_app.clone().into());
            set("trigger", json!({"type": "manual"}));
        }
        "/v1/automations/{id}/webhook" if operation.method == Method::PUT => {
            set("mode", "form".into());
            set("confirm", true.into());
        }
        // It takes rules or sentences, and not both.
        "/v1/backend/projects/{projectId}/tables/{table}/policy" => body = Some(json!({})),
        _ => {}
    }
    Ok(Operation {
        method: operation.method.clone(),
        path: operation.path.clone(),
        callers: super::Callers::read(&json!(operation.callers.names()))?,
        right: operation.right.clone(),
        body,
    })
}

/// The value at the bound is not refused for its size, and the one beyond it is.
async fn compare(
    caller: &Client,
    operation: &Operation,
    bound: &Bound,
    within: &Sent,
    beyond: &Sent,
) -> Result<()> {
    let reply = send(caller, operation, within).await?;
    if reply.status == 400 {
        let at = format!("{} {}", operation.path, bound.at);
        let said = message(&reply);
        let other = OTHER_RULES.iter().any(|(member, rule)| at.contains(member) && said.contains(rule));
        ensure!(other, "the value at the bound is refused: {said}");
    }
    let taken = reply.status.is_success();
    let reply = send(caller, operation, beyond).await?;
    if !taken && LOOKS_ELSEWHERE_FIRST.contains(&operation.path.as_str()) {
        return Ok(());
    }
    // Rows that cannot be there are a range that cannot be satisfied.
    let refused = reply.status == 400 || operation.path.contains("{table}") && reply.status == 416;
    ensure!(refused, "the value beyond it gives {}: {}", reply.status, message(&reply));
    Ok(())
}

/// A request at the bound and one beyond it, for each bound of an operation.
fn requests(document: &Value, operation: &Operation, path: &str) -> Result<Vec<(Bound, Sent, Sent)>> {
    let method = operation.method.as_str().to_lowercase();
    let described = &document["paths"][&operation.path][&method];
    let mut all = Vec::new();
    for parameter in described["parameters"].as_array().into_iter().flatten() {
        if parameter["in"] != "query" {
            continue;
        }
        let mut found = Vec::new();
        bounds(document, &parameter["schema"], "", &mut found);
        for mut bound in found {
            bound.at = parameter["name"].as_str().context("a name")?.to_owned();
            let sent = |value: &Value| {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let beside = beside(operation);
                Sent { path: format!("{path}?{beside}{}={text}", bound.at), body: operation.body.clone() }
            };
            let (within, beyond) = (sent(&bound.within), sent(&bound.beyond));
            all.push((bound, within, beyond));
        }
    }
    let schema = &described["requestBody"]["content"]["application/json"]["schema"];
    let mut found = Vec::new();
    if let Some(body) = &operation.body {
        bounds(document, schema, "", &mut found);
        for bound in found {
            let sent = |value| Sent {
                path: path.to_owned(),
                body: Some(with(document, schema, body, &bound.at, value)),
            };
            let (within, beyond) = (sent(&bound.within), sent(&bound.beyond));
            all.push((bound, within, beyond));
        }
    }
    Ok(all)
}

/// What the query needs beside the parameter that is tried: rows are not changed without a filter and an order.
fn beside(operation: &Operation) -> &'static str {
    let rows = operation.path.ends_with("/rest/{table}");
    if rows && operation.method != Method::GET { "id=eq.nothing&order=id&" } else { "" }
}

/// What is sent.
#[derive(Debug)]
struct Sent {
    path: String,
    body: Option<Value>,
}

async fn send(caller: &Client, operation: &Operation, sent: &Sent) -> Result<Reply> {
    let request = caller
        .request(operation.method.clone(), &sent.path)
        .header(http::header::ORIGIN, caller.base_url())?;
    match &sent.body {
        Some(body) => request.json(body)?.send().await,
        None => request.send().await,
    }
}
